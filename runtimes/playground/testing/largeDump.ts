/**
 * A process that dumps a database with one table of the given number of megabytes, and sends its peak memory use in
 * megabytes over IPC. Fails if a row is missing in the dump.
 */
import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { dump } from "../../sqlite/dump/dump.ts";

const rowsInMegabyte = 256;
const megabytes = Number(process.argv[2]);
const rows = megabytes * rowsInMegabyte;
const root = await mkdtemp(join(tmpdir(), "swlargedump-"));

function fill(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(
    "PRAGMA synchronous = off; CREATE TABLE wp_posts (id INTEGER PRIMARY KEY, content TEXT NOT NULL); BEGIN",
  );
  const insert = database.prepare("INSERT INTO wp_posts (content) VALUES (?)");
  const text = randomBytes((1 << 19) / rowsInMegabyte).toString("hex");
  for (let row = 0; row < rows; row += 1) insert.run(text);
  database.exec("COMMIT");
  database.close();
}

async function countRows(file: string): Promise<number> {
  let found = 0;
  for await (const line of createInterface({ input: createReadStream(file) }))
    if (/^\(\d+,'[0-9a-f]/.test(line)) found += 1;
  return found;
}

try {
  const [source, target] = [join(root, "wordpress.sqlite"), join(root, "wordpress.sql")];
  fill(source);
  await dump(source, target);
  if ((await countRows(target)) !== rows) throw new Error("Not all rows are in the dump");
  process.send?.(process.resourceUsage().maxRSS / 1024);
} finally {
  await rm(root, { recursive: true });
}
process.disconnect();
