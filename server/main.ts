/** `node server/main.ts control` or `edge`: one of the processes that the supervisor keeps running. */
import type { Config } from "./config.ts";

const parts: Readonly<Record<string, () => Promise<void>>> = {
  control: async () => {
    const { runControl } = await import("./control.ts");
    const { createPlaygroundRuntime } = await import("@sitewright/runtimes/playground/runtime.ts");
    await runControl(({ assets, environments, readyCopies }: Config) =>
      createPlaygroundRuntime({ assets, environments, ready: readyCopies }),
    );
  },
  edge: async () => {
    const { runEdge } = await import("./edgeProcess.ts");
    await runEdge();
  },
};

const name = process.argv[2] ?? "";
const run = parts[name];
if (!run) {
  process.stderr.write(`Usage: node server/main.ts ${Object.keys(parts).join("|")}\n`);
  process.exit(2);
}
await run();
