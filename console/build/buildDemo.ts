/** Builds the demo: the console on an API in the browser. */
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "vite";
import { consoleRoot } from "./version.ts";
import { buildConfig } from "./viteConfig.ts";

const root = join(consoleRoot, "demo");

/** Builds it into the folder, whose content it replaces. */
export async function buildDemo(folder: string): Promise<void> {
  const { build: options, ...config } = buildConfig(folder);
  await build({
    ...config,
    root,
    // It can be in any folder of any server.
    base: "./",
    build: {
      ...options,
      emptyOutDir: true,
      rolldownOptions: { input: [join(root, "index.html"), join(root, "nothing-here.html")] },
    },
  });
  await copyFile(join(consoleRoot, "../contract/openapi.json"), join(folder, "openapi.json"));
}
