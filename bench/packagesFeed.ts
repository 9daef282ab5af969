/**
 * `packagesFeed.ts <database url> <file>`: reads a vulnerability feed and prints the time and memory that it took, as
 * JSON.
 */
import { readAdvisories } from "@sitewright/server/reconcilers/readAdvisories.ts";
import { openDatabase } from "@sitewright/server/store/open.ts";

const [url = "", place = ""] = process.argv.slice(2);
const { database, close } = openDatabase(url);
const startedAt = performance.now();
await readAdvisories({ database, place }, new AbortController().signal);
const milliseconds = performance.now() - startedAt;
await close();
// Kilobytes on Linux.
const bytes = process.resourceUsage().maxRSS * 1024;
process.stdout.write(JSON.stringify({ milliseconds, bytes }));
