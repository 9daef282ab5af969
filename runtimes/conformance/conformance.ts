/**
 * Tests of everything that `runtime.ts` promises. A runtime's own test file calls this with a function that creates a fresh
 * world. Behaviour that is specific to a runtime is tested next to that runtime.
 */
import { randomUUID } from "node:crypto";
import { readFile, realpath, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { passwordDigest } from "../password.ts";
import {
  type EnvironmentLayout,
  type EnvironmentRef,
  type ProvisionSpec,
  type Runtime,
  RuntimeFailure,
  type WordPressInstall,
} from "../runtime.ts";
import { NoAnswer, type PhpRequest, type Serving } from "../serving.ts";
import { actionsIn } from "./actions.ts";
import { testCopies } from "./copies.ts";
import { testReleases } from "./releases.ts";
import { testTools } from "./tools.ts";

export interface World {
  readonly runtime: Runtime;
  readonly serving: Serving;
  close(): Promise<void>;
}

/** A specification of an environment with WordPress. */
export type WordPressSpec = ProvisionSpec & { readonly wordpress: WordPressInstall };

let lastNumber = 0;

/** Returns a specification that installs WordPress in a new environment. */
export function exampleSpec(wordpress: Partial<WordPressInstall> = {}): WordPressSpec {
  lastNumber += 1;
  return {
    environment: { id: randomUUID(), number: lastNumber },
    phpVersion: "8.3",
    wordpress: {
      address: `http://example-${lastNumber}.localhost:8081`,
      title: `Example ${lastNumber}`,
      adminUser: "admin",
      adminEmail: "admin@example.com",
      adminPasswordDigest: passwordDigest("correct horse battery"),
      locale: "en_US",
      multisite: null,
      ...wordpress,
    },
  };
}

/** Returns a visitor's GET request for the front page at `address`, changed by `changes`. */
export function exampleRequest(address: string, changes: Partial<PhpRequest> = {}): PhpRequest {
  return {
    method: "GET",
    url: "/",
    script: "/index.php",
    pathInfo: "",
    headers: { host: new URL(address).host },
    body: null,
    remoteAddress: "127.0.0.1",
    https: false,
    fromPhp: false,
    signal: new AbortController().signal,
    ...changes,
  };
}

async function reasonOf(response: Promise<unknown>): Promise<string> {
  const error = await response.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return error instanceof NoAnswer ? error.reason : `not a NoAnswer: ${String(error)}`;
}

export function testRuntime(name: string, makeWorld: () => Promise<World>): void {
  describe(`the ${name} runtime`, () => {
    let world: World;
    beforeAll(async () => {
      world = await makeWorld();
      await world.runtime.prepare(() => undefined);
    }, 600_000);
    afterAll(async () => {
      await world?.close();
    });

    async function layoutOf(environment: EnvironmentRef): Promise<EnvironmentLayout> {
      const layout = await world.runtime.layout(environment);
      if (layout === null) throw new Error("The environment has no layout.");
      return layout;
    }

    async function provisioned(wordpress: Partial<WordPressInstall> = {}): Promise<WordPressSpec> {
      const spec = exampleSpec(wordpress);
      await world.runtime.provision(spec);
      return spec;
    }

    async function serve(...specs: readonly ProvisionSpec[]): Promise<void> {
      const { defaultPhpVersion } = await world.runtime.capabilities();
      const served = specs.map(async ({ environment }) => ({
        ...environment,
        phpVersion: defaultPhpVersion,
        ...(await layoutOf(environment)),
      }));
      await world.serving.setEnvironments(await Promise.all(served));
    }

    test("its capabilities list PHP versions in ascending order with the default, and English", async () => {
      const capabilities = await world.runtime.capabilities();
      expect(capabilities.phpVersions).toContain(capabilities.defaultPhpVersion);
      expect(capabilities.locales).toContain("en_US");
      const ascending = capabilities.phpVersions.toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }));
      expect(capabilities.phpVersions).toEqual(ascending);
    });

    test("prepare can be called repeatedly and concurrently", async () => {
      await Promise.all([world.runtime.prepare(() => undefined), world.runtime.prepare(() => undefined)]);
    });

    test("an environment that was never created has no layout", async () => {
      expect(await world.runtime.layout(exampleSpec().environment)).toBeNull();
    });

    test("a provisioned environment has an absolute web root without symbolic links", async () => {
      const { environment } = await provisioned();
      const layout = await layoutOf(environment);
      expect(await realpath(layout.documentRoot)).toBe(layout.documentRoot);
      expect((await stat(layout.documentRoot)).isDirectory()).toBe(true);
      expect(layout.multisite).toBeNull();
      for (const folder of Object.values(layout.overlays)) expect((await stat(folder)).isDirectory()).toBe(true);
    });

    test("provisioning again changes nothing", async () => {
      const spec = await provisioned();
      const marker = path.join((await layoutOf(spec.environment)).documentRoot, "marker.txt");
      await writeFile(marker, "mine");
      const again = await world.runtime.provision(spec);
      expect(again.wordpressVersion).toMatch(/^\d+\.\d+/);
      expect(await readFile(marker, "utf8")).toBe("mine");
    });

    test("an unavailable locale is refused with a reason and leaves nothing", async () => {
      const spec = exampleSpec({ locale: "xx_YY" });
      await expect(world.runtime.provision(spec)).rejects.toThrow(RuntimeFailure);
      expect(await world.runtime.layout(spec.environment)).toBeNull();
    });

    test("setting a password fails for a missing environment and does nothing without WordPress", async () => {
      const { environment } = exampleSpec();
      const digest = passwordDigest("correct horse");
      await expect(world.runtime.setAdminPassword(environment, digest)).rejects.toThrow(RuntimeFailure);
      await world.runtime.provision({ environment, phpVersion: "8.3", wordpress: null });
      await world.runtime.setAdminPassword(environment, digest);
    });

    test("a retired environment has no layout until it is reinstated unchanged", async () => {
      const { environment } = await provisioned();
      const before = await layoutOf(environment);
      await world.runtime.retire(environment);
      await world.runtime.retire(environment);
      expect(await world.runtime.layout(environment)).toBeNull();
      await world.runtime.reinstate(environment);
      await world.runtime.reinstate(environment);
      expect(await layoutOf(environment)).toEqual(before);
    });

    test("destroy removes an environment for good, whether it is live, retired, missing or destroyed", async () => {
      const live = await provisioned();
      const retired = await provisioned();
      const { documentRoot } = await layoutOf(live.environment);
      await world.runtime.retire(retired.environment);
      for (const { environment } of [live, retired, exampleSpec()]) {
        await world.runtime.destroy(environment);
        await world.runtime.destroy(environment);
        await world.runtime.reinstate(environment);
        expect(await world.runtime.layout(environment)).toBeNull();
      }
      await expect(stat(documentRoot)).rejects.toThrow();
    });

    test("retire tolerates a missing environment", async () => {
      const { environment } = exampleSpec();
      await world.runtime.retire(environment);
      expect(await world.runtime.layout(environment)).toBeNull();
    });

    test("a destroyed environment can be provisioned again", async () => {
      const spec = await provisioned();
      await world.runtime.destroy(spec.environment);
      await world.runtime.provision(spec);
      await layoutOf(spec.environment);
    });

    test("WP-Cron events are read from each existing WordPress and from nothing else", async () => {
      const signal = new AbortController().signal;
      const [one, retired, absent, plain] = [await provisioned(), await provisioned(), exampleSpec(), exampleSpec()];
      await world.runtime.retire(retired.environment);
      await world.runtime.provision({ ...plain, wordpress: null });
      const all = [one, retired, absent, plain].map(({ environment }) => environment);
      const next = await world.runtime.nextEvents(all, signal);
      expect([...next.keys()]).toEqual([one.environment.id]);
      expect(await world.runtime.nextEvents(all, signal)).toEqual(next);
      const plans = await Promise.all(all.map((each) => world.runtime.cronEvents(each, signal)));
      expect(plans.map((found) => found?.sites.map(({ place }) => place))).toEqual([
        [null],
        undefined,
        undefined,
        undefined,
      ]);
    });

    test("a user is found by e-mail address regardless of case, and no one without WordPress", async () => {
      const { environment } = await provisioned({ adminUser: "ada", adminEmail: "ada@example.com" });
      const find = (email: string) => world.runtime.findUser(environment, email);
      expect(await find("ADA@example.com")).toEqual({ user: { id: 1, login: "ada", isAdministrator: true } });
      expect(await find("unknown@example.com")).toEqual({ user: null });
      const { environment: plain } = exampleSpec();
      expect(await world.runtime.findUser(plain, "ada@example.com")).toBeNull();
      await world.runtime.provision({ environment: plain, phpVersion: "8.3", wordpress: null });
      expect(await world.runtime.findUser(plain, "ada@example.com")).toBeNull();
    });

    describe("served environments", () => {
      let one: WordPressSpec;
      let other: WordPressSpec;
      beforeAll(async () => {
        one = await provisioned({ title: "First garden", adminPasswordDigest: null });
        other = await provisioned({ title: "Second garden" });
        await serve(one, other);
      });

      async function page({ environment, wordpress }: WordPressSpec) {
        const answer = await world.serving.handle(environment.id, exampleRequest(wordpress.address));
        const content = await text(answer.body);
        return { status: answer.status, content, isComplete: content.includes("</html>") };
      }

      const runTask = (name: string, mark: string) =>
        world.serving.handle(one.environment.id, {
          ...exampleRequest(one.wordpress.address),
          task: { name, input: JSON.stringify({ mark, input: {} }) },
          deadlineSeconds: 50,
        });

      test("an administrator without a password gets one only once, even while visitors read pages", async () => {
        const pages = Promise.all([page(one), page(one)]);
        for (const password of ["correct horse", "another"]) {
          await world.runtime.setAdminPassword(one.environment, passwordDigest(password));
        }
        for (const shown of [...(await pages), await page(one)])
          expect(shown).toMatchObject({ status: 200, isComplete: true });
      }, 60_000);

      test("the front page of each environment shows its own title", async () => {
        for (const each of [one, other]) {
          const content = expect.stringContaining(each.wordpress.title);
          expect(await page(each)).toMatchObject({ status: 200, isComplete: true, content });
        }
      }, 60_000);

      test("usage is counted for each environment separately and never decreases", async () => {
        const counted = () =>
          [one, other].map(
            ({ environment: { id } }) =>
              world.serving.usage().find(({ environmentId }) => environmentId === id)?.phpRequests ?? 0,
          );
        const [ofOne = 0, ofOther] = counted();
        for (let count = 1; count <= 2; count += 1) {
          await page(one);
          expect(counted()).toEqual([ofOne + count, ofOther]);
        }
      });

      test("an unknown task returns 404, and the site keeps working", async () => {
        const answer = await runTask("nothingLikeIt", "m");
        expect(answer.status).toBe(404);
        expect(await text(answer.body)).not.toContain("m{");
        expect(await answer.errors).toBe("");
        expect(await page(one)).toMatchObject({ isComplete: true });
      }, 60_000);

      test("the task `describe` describes the WordPress that runs it and leaves nothing in its files", async () => {
        const files = JSON.stringify(await world.runtime.listFiles(one.environment));
        const [, json = ""] = (await text((await runTask("describe", "between")).body)).split("between");
        expect(JSON.parse(json)).toMatchObject({ address: one.wordpress.address, multisite: false });
        expect(JSON.stringify(await world.runtime.listFiles(one.environment))).toBe(files);
      }, 60_000);

      test("are unavailable when they are no longer in the list, and their usage remains", async () => {
        const request = exampleRequest(one.wordpress.address);
        const usage = () => world.serving.usage().find(({ environmentId }) => environmentId === one.environment.id);
        const before = usage()?.phpRequests;
        expect(before).toBeGreaterThan(0);
        expect(await reasonOf(world.serving.handle(randomUUID(), request))).toBe("unavailable");
        await serve(other);
        expect(await reasonOf(world.serving.handle(one.environment.id, request))).toBe("unavailable");
        expect(usage()?.phpRequests).toBe(before);
      }, 60_000);
    });

    const actions = actionsIn(() => world);
    testCopies(actions);
    testReleases(actions);
    testTools(actions);
  });
}
