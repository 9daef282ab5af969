/** Several runtimes as one: each call goes to the runtime of its environment. */
import { type EnvironmentRef, type EnvironmentRuntime, RuntimeFailure, type SnapshotFolder } from "./runtime.ts";

/**
 * Returns the recorded runtimes by environment id. Leaves out environments that are not recorded, because they no longer exist.
 */
export type FindRuntimes = (environmentIds: readonly string[]) => Promise<ReadonlyMap<string, string>>;

/** The runtimes by name. */
export type Runtimes<R extends EnvironmentRuntime = EnvironmentRuntime> = Readonly<Record<string, R>>;

/**
 * A single runtime gets all calls. Snapshots, which all runtimes can read, go to the first of several. Calls reject with
 * `RuntimeFailure` if the environment's runtime is not among them.
 */
export function combineRuntimes(runtimes: Runtimes, findRuntimes: FindRuntimes): EnvironmentRuntime {
  const byName = new Map(Object.entries(runtimes));
  const [first, ...others] = byName;
  if (first === undefined) throw new Error("An installation needs a runtime.");
  const [firstName, firstRuntime] = first;
  if (others.length === 0) return firstRuntime;

  /** Returns the names of the environments' runtimes, in the same order. */
  async function namesOf(environments: readonly EnvironmentRef[]): Promise<readonly string[]> {
    const unnamed = environments.filter(({ runtime }) => runtime === undefined).map(({ id }) => id);
    const recorded = unnamed.length === 0 ? new Map<string, string>() : await findRuntimes(unnamed);
    return environments.map(({ id, runtime }) => runtime ?? recorded.get(id) ?? firstName);
  }

  async function of(environment: EnvironmentRef): Promise<EnvironmentRuntime> {
    const [name = firstName] = await namesOf([environment]);
    const found = byName.get(name);
    if (found === undefined) throw new RuntimeFailure(`This installation has no runtime ${name}.`);
    return found;
  }

  async function readerOf(source: EnvironmentRef | SnapshotFolder): Promise<EnvironmentRuntime> {
    return "folder" in source ? firstRuntime : of(source);
  }

  /**
   * Asks each runtime about its environments. Those without environments are asked too, so that they forget earlier ones.
   * Environments whose runtime is not there are left out, as those that can't be read are.
   */
  async function ofEach<Environment extends EnvironmentRef, Answer>(
    environments: readonly Environment[],
    ask: (runtime: EnvironmentRuntime, own: readonly Environment[]) => Promise<Iterable<Answer>>,
  ): Promise<readonly Answer[]> {
    const names = await namesOf(environments);
    const asked = [...byName].map(([name, runtime]) =>
      ask(
        runtime,
        environments.filter((_, index) => names[index] === name),
      ),
    );
    return (await Promise.all(asked)).flatMap((answers) => [...answers]);
  }

  const ofCompanies = <Answer>(
    environments: readonly EnvironmentRef[],
    ask: (runtime: EnvironmentRuntime, own: readonly EnvironmentRef[]) => Promise<ReadonlyMap<string, Answer>>,
  ) => ofEach(environments, ask).then((answers) => new Map(answers));

  return {
    provision: async (spec) => (await of(spec.environment)).provision(spec),
    setAdminPassword: async (environment, digest) => (await of(environment)).setAdminPassword(environment, digest),
    clone: async (spec) => (await of(spec.environment)).clone(spec),
    retire: async (environment) => (await of(environment)).retire(environment),
    reinstate: async (environment) => (await of(environment)).reinstate(environment),
    destroy: async (environment) => (await of(environment)).destroy(environment),
    layout: async (environment) => (await of(environment)).layout(environment),
    stage: async (spec) => (await of(spec.environment)).stage(spec),
    staged: async (environment, token) => (await of(environment)).staged(environment, token),
    rehearse: async (environment, token) => (await of(environment)).rehearse(environment, token),
    installPackages: async (environment, token, packages) =>
      (await of(environment)).installPackages(environment, token, packages),
    installWordPress: async (environment, token, wordpress) =>
      (await of(environment)).installWordPress(environment, token, wordpress),
    switchTo: async (environment, token) => (await of(environment)).switchTo(environment, token),
    switchBack: async (environment, token) => (await of(environment)).switchBack(environment, token),
    unstage: async (environment, token) => (await of(environment)).unstage(environment, token),
    prune: async (environment) => (await of(environment)).prune(environment),
    compare: async (spec) => (await of(spec.environment)).compare(spec),
    snapshot: async (environment, folder) => (await of(environment)).snapshot(environment, folder),
    countRows: async (source, signal) => (await readerOf(source)).countRows(source, signal),
    exportSite: (source, folder) => firstRuntime.exportSite(source, folder),
    runWpCli: async (environment, command, begin, signal) =>
      (await of(environment)).runWpCli(environment, command, begin, signal),
    countReplacements: async (environment, change, signal) =>
      (await of(environment)).countReplacements(environment, change, signal),
    stageReplacement: async (spec) => (await of(spec.environment)).stageReplacement(spec),
    stageAddress: async (spec) => (await of(spec.environment)).stageAddress(spec),
    listFiles: async (environment) => (await of(environment)).listFiles(environment),
    wordpress: async (environment) => (await of(environment)).wordpress(environment),
    nextEvents: (environments, signal) => ofCompanies(environments, (each, own) => each.nextEvents(own, signal)),
    cronEvents: async (environment, signal) => (await of(environment)).cronEvents(environment, signal),
    packages: (environments, signal) => ofCompanies(environments, (each, own) => each.packages(own, signal)),
    unchangedPackages: async (environments) =>
      new Set(await ofEach(environments, (each, own) => each.unchangedPackages(own))),
    findUser: async (environment, email) => (await of(environment)).findUser(environment, email),
    diskUse: async (environment) => (await of(environment)).diskUse(environment),
    freeDisk: async () => Math.min(...(await Promise.all([...byName.values()].map((each) => each.freeDisk())))),
  };
}
