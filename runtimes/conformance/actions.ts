/**
 * Actions on environments for the tests of `conformanceReleases.ts`, `conformanceCopies.ts` and `conformanceTools.ts`.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import type { EnvironmentRef, Runtime, StageSpec, WordPressInstall } from "../runtime.ts";
import type { ServedEnvironment } from "../serving.ts";
import { exampleRequest, exampleSpec, type WordPressSpec, type World } from "./conformance.ts";

export type Choices = Partial<Pick<StageSpec, "files" | "database">>;

/** Two sites, and a specification that stages parts of the first one for the second one. */
export interface Pair {
  readonly source: EnvironmentRef;
  readonly target: EnvironmentRef;
  /** The target's address. */
  readonly address: string;
  readonly spec: Omit<StageSpec, "token" | "source"> & { readonly source: EnvironmentRef };
}

export interface Actions {
  runtime(): Runtime;
  provisioned(wordpress?: Partial<WordPressInstall>): Promise<WordPressSpec>;
  /** Throws if the environment does not exist. */
  servedAs(environment: EnvironmentRef): Promise<ServedEnvironment>;
  /** Writes a file below the web root and creates its parent folders. */
  write(environment: EnvironmentRef, name: string, content: string): Promise<void>;
  /** Returns a file's content, or null if it does not exist. */
  read(environment: EnvironmentRef, name: string): Promise<string | null>;
  /** Serves only this environment. Returns its front page. */
  frontPage(environment: EnvironmentRef, address: string): Promise<string>;
  /** Provisions two sites. Absent `choices`: everything is pushed. */
  pair(choices?: Choices): Promise<Pair>;
}

export function actionsIn(world: () => World): Actions {
  const runtime = () => world().runtime;

  async function provisioned(wordpress: Partial<WordPressInstall> = {}): Promise<WordPressSpec> {
    const spec = exampleSpec(wordpress);
    await runtime().provision(spec);
    return spec;
  }

  async function servedAs(environment: EnvironmentRef): Promise<ServedEnvironment> {
    const layout = await runtime().layout(environment);
    if (layout === null) throw new Error("The environment has no layout.");
    return { ...environment, ...layout, phpVersion: (await runtime().capabilities()).defaultPhpVersion };
  }

  return {
    runtime,
    provisioned,
    servedAs,
    write: async (environment, name, content) => {
      const file = path.join((await servedAs(environment)).documentRoot, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, content);
    },
    read: async (environment, name) => {
      const { documentRoot } = await servedAs(environment);
      return readFile(path.join(documentRoot, name), "utf8").catch(() => null);
    },
    frontPage: async (environment, address) => {
      await world().serving.setEnvironments([await servedAs(environment)]);
      const answer = await world().serving.handle(environment.id, exampleRequest(address));
      expect(answer.status).toBe(200);
      return text(answer.body);
    },
    pair: async (choices = {}) => {
      const source = await provisioned({ title: "Staging garden" });
      const target = await provisioned({ title: "Live garden" });
      const { address } = target.wordpress;
      const spec: Pair["spec"] = {
        environment: target.environment,
        source: source.environment,
        files: "all",
        database: "all",
        addresses: [{ from: source.wordpress.address, to: address }],
        ...choices,
      };
      return { source: source.environment, target: target.environment, address, spec };
    },
  };
}
