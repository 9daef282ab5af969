/**
 * Processor time for loading the modules of each process: the minimum for `npm start`, an operator command, or a PHP
 * worker.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { atMost, duration, type Figure } from "./report.ts";
import { median } from "./statistics.ts";

const run = promisify(execFile);
const times = 7;

/** By process, a module that imports everything the process needs, without side effects. */
const processes = {
  supervisor: "supervisor/installation.ts",
  control: "server/control.ts",
  edge: "server/edgeProcess.ts",
  dns: "server/dnsProcess.ts",
  "a worker of PHP": "runtimes/playground/php/boot.ts",
  "the operator's backup": "server/operator/backup.ts",
} as const;

/** Processor time in milliseconds, and the number of modules. */
interface Loading {
  readonly milliseconds: number;
  readonly modules: number;
}

function code(module: string | null): string {
  const load = module === null ? "" : `await import(${JSON.stringify(join(import.meta.dirname, "..", module))});`;
  return `
    import { registerHooks } from "node:module";
    let modules = 0;
    registerHooks({ load: (url, context, next) => { modules += url.startsWith("file:") ? 1 : 0; return next(url, context); } });
    ${load}
    const { user, system } = process.cpuUsage();
    process.stdout.write(JSON.stringify({ milliseconds: (user + system) / 1000, modules }));
    process.exit();`;
}

async function load(module: string | null, codeCache: string): Promise<Loading> {
  const env = { ...process.env, NODE_COMPILE_CACHE: codeCache };
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", code(module)], { env });
  return JSON.parse(stdout);
}

/** The first load fills Node's compile cache, as an earlier start would have. */
async function typicalLoad(module: string | null, codeCache: string): Promise<Loading> {
  const { modules } = await load(module, codeCache);
  const all: number[] = [];
  for (let count = 0; count < times; count += 1) all.push((await load(module, codeCache)).milliseconds);
  return { milliseconds: median(all), modules };
}

/** Does not need an installation. */
export async function measureImports(): Promise<Figure[]> {
  const codeCache = await mkdtemp(join(tmpdir(), "sw-code-"));
  try {
    const bare = await typicalLoad(null, codeCache);
    const figures: Figure[] = [];
    for (const [name, module] of Object.entries(processes)) {
      const { milliseconds, modules } = await typicalLoad(module, codeCache);
      const figure = `modules of ${name}, processor time, median of ${times}`;
      const reference = `${modules} modules; bare Node: ${duration(bare.milliseconds)}`;
      figures.push(atMost(figure, milliseconds, Number.POSITIVE_INFINITY, reference));
    }
    return figures;
  } finally {
    await rm(codeCache, { recursive: true, force: true });
  }
}
