/**
 * node starter.ts <data> <run> [uid]: starts PostgreSQL, prints `{ url, pid }` and waits to be killed.
 * With a uid it becomes that user first, so that a test as root can see what a normal user meets.
 */
import { startPostgres } from "../postgres/postgres.ts";

const [dataDirectory = "", runDirectory = "", uid] = process.argv.slice(2);
if (uid !== undefined) {
  process.setgroups?.([]);
  process.setgid?.(Number(uid));
  process.setuid?.(Number(uid));
}
const { url, pid } = await startPostgres({ dataDirectory, runDirectory });
process.stdout.write(`${JSON.stringify({ url, pid })}\n`);
setInterval(() => undefined, 60_000);
