// `sluice snapshot` into a file of the day. The day of the month names it: a month of nights is kept, and nothing has to be cleared
// away. The image has no shell that could say so.
const [, , sluice, folder] = process.argv;
const day = String(new Date().getUTCDate()).padStart(2, "0");
process.argv = [process.execPath, sluice, "snapshot", `${folder}/tree-${day}.snapshot.gz`];
process.argv.push("--overwrite", "--token-file", process.env.SLUICE_TOKEN_FILE);
await import(sluice);
