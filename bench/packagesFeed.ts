/** A process that reads a feed of vulnerabilities as the product does, and says how long that took and how much memory. */
import { readAdvisories } from "@sitewright/server/reconcilers/readAdvisories.ts";
import { openDatabase } from "@sitewright/server/store/open.ts";

const [url = "", place = ""] = process.argv.slice(2);
const { database, close } = openDatabase(url);
const began = performance.now();
await readAdvisories({ database, place }, new AbortController().signal);
const milliseconds = performance.now() - began;
await close();
// On Linux in kilobytes.
const bytes = process.resourceUsage().maxRSS * 1024;
process.stdout.write(JSON.stringify({ milliseconds, bytes }));
