/**
 * `node postgresStarter.ts <data> <run> [uid]` starts PostgreSQL, prints `{ url, pid }` and waits to be killed. With a
 * uid, it switches to that user first, so that a test run as root can check the behaviour for a normal user.
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
