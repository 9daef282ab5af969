/** Serves a new site with the PHP in a folder: `node servedWith.ts <folder>`. Prints what a page, a script and WP-CLI say, as JSON. */
import { runPhp, visitorOf } from "../../testing/visitor.ts";
import { inspectRoots } from "../versions/discovery.ts";
import { openNative } from "./world.ts";

const [folder = ""] = process.argv.slice(2);
const { offered, refused } = await inspectRoots([{ folder, place: "there" }]);
const [php] = offered;
if (php === undefined) throw new Error(refused.join(" "));
const native = await openNative({ phpOf: () => php });
const site = await native.site({ title: "Served" });
const page = await visitorOf(native.serving, site).get("/");
const version = await runPhp(native.serving, site, "echo PHP_VERSION;");
const command = { phpVersion: native.phpVersion, argv: ["eval", "echo PHP_VERSION;"], seconds: 120 };
const { signal } = new AbortController();
const { stdout } = await native.runtime.runWpCli(site.environment, command, async () => undefined, signal);
await native.close();
const [, title] = /<title>(.*)<\/title>/.exec(page.text) ?? [];
process.stdout.write(JSON.stringify({ root: php.root, page: [page.status, title], version, wpCli: stdout.text }));
