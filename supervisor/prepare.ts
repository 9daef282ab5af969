/**
 * `node supervisor/prepare.ts`: fetches and unpacks what the runtime needs, and reports its progress to its parent.
 * It is a separate process so that its memory is freed: it runs for seconds, the supervisor for months.
 */
import { createPlaygroundRuntime } from "@sitewright/runtimes/playground/runtime.ts";
import { loadConfig } from "@sitewright/server/settings/config.ts";

process.on("disconnect", () => process.exit(1));
try {
  await createPlaygroundRuntime(loadConfig(process.env)).prepare((update) => {
    process.send?.({ type: "progress", ...update });
  });
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
