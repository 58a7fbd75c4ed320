# syntax=docker/dockerfile:1
# Upbeat in an image without development packages: docker build -t upbeat .
ARG NODE=node:24-bookworm-slim

FROM ${NODE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund && npm cache clean --force

FROM ${NODE}
LABEL org.opencontainers.image.title="Upbeat" \
      org.opencontainers.image.description="A monitor that tells the world whether a service is up" \
      org.opencontainers.image.licenses="MIT"
# The kind of check icmp uses ping.
RUN apt-get update && apt-get install -y --no-install-recommends iputils-ping && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production \
    UPBEAT_STORAGE_DATADIR=/data \
    UPBEAT_LOG_FORMAT=json
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY bin ./bin
COPY src ./src
COPY workers ./workers
COPY assets ./assets
COPY config ./config
RUN mkdir -m 700 /data .compiled .bundle && chown node:node /data .compiled .bundle
USER node
RUN node src/cli/make-bundle.ts && node bin/upbeat.mjs start --check-config
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["node", "src/cli/health-check.ts"]
STOPSIGNAL SIGTERM
CMD ["node", "bin/upbeat.mjs", "start"]
