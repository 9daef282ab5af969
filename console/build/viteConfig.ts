/** How Vite builds the console, and serves it in development. */
import { join } from "node:path";
import type { InlineConfig } from "vite";
import { consoleRoot } from "./version.ts";

/** The URL path of the built files. */
const base = "/console/";

export const viteConfig = {
  configFile: false,
  root: join(consoleRoot, "app"),
  // Thousands of warnings say that the libraries' files begin with "use client", which means nothing here.
  logLevel: "error",
  publicDir: false,
} satisfies InlineConfig;

/** A build into an empty folder. All files are in this folder itself, and their names change with their content. */
export function buildConfig(folder: string): InlineConfig {
  return {
    ...viteConfig,
    base,
    mode: "production",
    // Whatever the environment of the process that builds it.
    // Otherwise the components would need the development version of React where NODE_ENV is not production, and the page stay empty.
    oxc: { jsx: { runtime: "automatic", development: false } },
    define: { "process.env.NODE_ENV": JSON.stringify("production") },
    build: {
      outDir: folder,
      assetsDir: "",
      assetsInlineLimit: 0,
      // Vite's loader of modules would be an inline script, which the page's policy forbids.
      modulePreload: { polyfill: false },
      chunkSizeWarningLimit: 1000,
    },
  };
}
