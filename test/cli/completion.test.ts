/** Completion of commands, options and their values. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';

const CLI = join(import.meta.dirname, '../../src/cli/main.ts');
const UPBEAT = `'${process.execPath}' '${CLI}'`;

t.test('it completes commands, options and their values in bash', async (t) => {
  const words = ['services list --status d', 'services export --fo'];
  const script = `
    upbeat() { ${UPBEAT} "$@"; }
    # The function of the package bash-completion, for words without = and :.
    _get_comp_words_by_ref() { words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur="\${words[cword]}"; prev="\${words[cword-1]}"; }
    compopt() { :; }
    source <(upbeat completion bash)
    complete -p upbeat
    for line in ${words.map((line) => `'${line}'`).join(' ')}; do
      COMP_WORDS=(upbeat $line); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMPREPLY=(); __upbeat_complete; echo "\${COMPREPLY[*]}"
    done`;
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
  t.same([status, stderr], [0, '']);
  t.same(stdout.trimEnd().split('\n'), ['complete -F __upbeat_complete upbeat', 'down', '--format']);
});
