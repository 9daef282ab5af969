/** Vitest reporter that prints the time per room and the ten slowest files and hooks. */
import { relative } from "node:path";
import type { ReportedHookContext, Reporter, TestModule } from "vitest/node";

const shown = 10;

export class Slowest implements Reporter {
  readonly #startedAt = new Map<string, number>();
  readonly #hooks: (readonly [name: string, milliseconds: number])[] = [];

  onHookStart(hook: ReportedHookContext): void {
    this.#startedAt.set(`${hook.name} ${hook.entity.id}`, performance.now());
  }

  onHookEnd(hook: ReportedHookContext): void {
    const startedAt = this.#startedAt.get(`${hook.name} ${hook.entity.id}`);
    if (startedAt === undefined) return;
    const module = hook.entity.type === "module" ? hook.entity : hook.entity.module;
    this.#hooks.push([`${hook.name} of ${pathOf(module)}`, performance.now() - startedAt]);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => {
      const { duration, collectDuration } = module.diagnostic();
      return [pathOf(module), duration + collectDuration] as const;
    });
    if (files.length < 2) return;
    print("Seconds per room", bySum(files.map(([path, time]) => [roomOf(path), time] as const)));
    print("Slowest files", files);
    print("Slowest hooks", this.#hooks);
  }
}

function pathOf(module: TestModule): string {
  return relative(process.cwd(), module.moduleId);
}

/** `server/http/sites/sites.test.ts` is in `server/http`, `dns/zones.test.ts` in `dns`. */
function roomOf(path: string): string {
  const folders = path.split("/").slice(0, -1);
  return folders.slice(0, folders[0] === "server" || folders[0] === "runtimes" ? 2 : 1).join("/") || path;
}

function bySum(times: readonly (readonly [string, number])[]): [string, number][] {
  const sums = new Map<string, number>();
  for (const [name, time] of times) sums.set(name, (sums.get(name) ?? 0) + time);
  return [...sums];
}

function print(title: string, times: readonly (readonly [name: string, milliseconds: number])[]): void {
  const sorted = times.toSorted(([, one], [, other]) => other - one).slice(0, shown);
  const lines = sorted.map(([name, milliseconds]) => `${(milliseconds / 1000).toFixed(1).padStart(8)}  ${name}`);
  process.stdout.write(`\n${title}\n${lines.join("\n")}\n`);
}
