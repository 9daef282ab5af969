/** Adds PHP in a process of its own: `node addPhp.ts <folder of the record> <what to add> [mmdebstrap]`. */
import { machineMirrors } from "../versions/aptSources.ts";
import { addPhp } from "../versions/changes.ts";

const [folder = "", place = "", program] = process.argv.slice(2);
const options = { mirrors: machineMirrors(), signal: new AbortController().signal };
try {
  const offered = await addPhp(folder, place, { ...options, ...(program !== undefined && { program }) });
  process.stdout.write(JSON.stringify(offered));
} catch (error) {
  process.stdout.write(error instanceof Error ? error.message : String(error));
}
