console.log('cli', process.version, process.argv.slice(2));
