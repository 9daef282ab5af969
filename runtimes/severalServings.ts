/** The serving sides of several runtimes as one: each request goes to the runtime of its environment. */
import { firstRuntime } from "./runtimeNames.ts";
import { type EnvironmentUsage, NoAnswer, type ServedEnvironment, type Serving } from "./serving.ts";

/** The usage of one environment under two runtimes, because it moved from one to the other. */
function sumOf(one: EnvironmentUsage, other: EnvironmentUsage): EnvironmentUsage {
  return {
    environmentId: one.environmentId,
    phpRequests: one.phpRequests + other.phpRequests,
    phpMilliseconds: one.phpMilliseconds + other.phpMilliseconds,
    cpuMilliseconds: one.cpuMilliseconds + other.cpuMilliseconds,
    killedForTime: one.killedForTime + other.killedForTime,
    killedForMemory: one.killedForMemory + other.killedForMemory,
    refusedBusy: one.refusedBusy + other.refusedBusy,
    writes: one.writes + other.writes,
    recentCores: one.recentCores + other.recentCores,
  };
}

const nameOf = ({ runtime = firstRuntime }: ServedEnvironment) => runtime;

/**
 * `servings` by name of the runtime. An environment whose runtime is not among them is unavailable. One that moves to another
 * runtime is removed from the former one, which ends its requests.
 */
export function combineServings(servings: Readonly<Record<string, Serving>>): Serving {
  const byName = new Map(Object.entries(servings));
  const all = [...byName.values()];
  let served: ReadonlyMap<string, string> = new Map();

  function servingNamed(name: string | undefined): Serving {
    const found = name === undefined ? undefined : byName.get(name);
    if (found === undefined) throw new NoAnswer("unavailable", "This environment is not served here.");
    return found;
  }

  return {
    setEnvironments: async (environments) => {
      served = new Map(environments.map((environment) => [environment.id, nameOf(environment)]));
      const groups = Map.groupBy(environments, nameOf);
      await Promise.all([...byName].map(([name, serving]) => serving.setEnvironments(groups.get(name) ?? [])));
    },
    handle: async (environmentId, request) => servingNamed(served.get(environmentId)).handle(environmentId, request),
    runTrial: async (environment, request) => servingNamed(nameOf(environment)).runTrial(environment, request),
    usage: () => {
      const usages = Map.groupBy(
        all.flatMap((serving) => serving.usage()),
        ({ environmentId }) => environmentId,
      );
      return [...usages.values()].map((each) => each.reduce(sumOf));
    },
    close: async () => {
      await Promise.all(all.map((serving) => serving.close()));
    },
  };
}
