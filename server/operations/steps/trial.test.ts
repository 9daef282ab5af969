import type { EnvironmentLayout } from "@sitewright/runtimes/runtime.ts";
import { describe, expect, test } from "vitest";
import type { Trial, TrialOrder } from "../../clients/edgeClient.ts";
import { StepFailure } from "../engine/operation.ts";
import {
  comparedFrontPage,
  faultOf,
  frontPage,
  frontPageOrMaintenance,
  loginAndDashboard,
  loginPage,
  makeRunTrial,
  TrialFailed,
  type TrialPage,
  updateCheckPage,
} from "./trial.ts";

const fine: Trial = { status: 200, isComplete: true, errors: "", reason: null, location: null };
const parseError =
  "[21-Nov-2026 10:00:00 UTC] PHP Warning:  first\n[21-Nov-2026 10:00:00 UTC] PHP Parse error:  syntax error in /site/a.php on line 3\n";

describe("a trial of the front page", () => {
  test.each<[string, Partial<Trial>, string | null]>([
    ["loaded", {}, null],
    ["is a redirect", { status: 302, isComplete: false, location: "/en/" }, null],
    ["asks for a password", { status: 401, isComplete: false }, null],
    ["is not HTML", { isComplete: false }, null],
    ["loaded with a logged error", { errors: parseError }, null],
    ["is an error", { status: 500 }, "its front page has the status 500"],
    [
      "is an error that PHP has logged",
      { status: 500, errors: parseError },
      "its front page has the status 500: PHP Parse error:  syntax error in /site/a.php on line 3",
    ],
    [
      "is incomplete and PHP has logged an error",
      { isComplete: false, errors: parseError },
      "its front page is incomplete: PHP Parse error:  syntax error in /site/a.php on line 3",
    ],
    ["timed out", { status: 0, isComplete: false, reason: "deadline" }, "its front page took too long"],
    ["failed for an unknown reason", { status: 0, isComplete: false, reason: "other" }, "it did not respond"],
  ])("%s", (_, trial, fault) => {
    expect(faultOf({ ...fine, ...trial })).toBe(fault);
  });
});

describe("a trial of the login page", () => {
  const installation = "http://demo.localhost:8081/wp-admin/install.php";
  test.each<[string, Partial<Trial>, string | null]>([
    ["loaded", {}, null],
    ["redirects to another page", { status: 302, isComplete: false, location: "/members/" }, null],
    ["is incomplete", { isComplete: false }, "its login page is incomplete"],
    ["does not exist", { status: 404 }, "its login page has the status 404"],
    ["is an error", { status: 500 }, "its login page has the status 500"],
    [
      "redirects to the installation",
      { status: 302, isComplete: false, location: installation },
      "its login page redirects to the installation of WordPress",
    ],
    ["timed out", { status: 0, isComplete: false, reason: "deadline" }, "its login page took too long"],
    [
      "crashed PHP",
      { status: 0, isComplete: false, reason: "crashed" },
      "PHP crashed while it rendered the login page",
    ],
  ])("%s", (_, trial, fault) => {
    expect(faultOf({ ...fine, ...trial }, loginPage)).toBe(fault);
  });
});

describe("a trial", () => {
  const layout: EnvironmentLayout = {
    release: 2,
    documentRoot: "/x",
    overlays: {},
    multisite: null,
    wordpressVersion: null,
  };
  const candidate = {
    environment: { id: "e", number: 1 },
    php: { runtime: "playground", version: "8.4" },
    layout,
    address: "http://demo.localhost:8081",
    what: "The site on PHP 8.4",
    isReadOnly: true,
  };
  const { signal } = new AbortController();

  test.each(["crashed", "deadline"])("tries again before the site is blamed, once: %s", async (reason) => {
    const killed: Trial = { ...fine, status: 0, isComplete: false, reason };
    const answers = [killed, fine, killed, killed];
    const runTrial = async () => answers.shift() ?? fine;
    expect(await makeRunTrial({ runTrial })(candidate, signal)).toBe(true);
    await expect(makeRunTrial({ runTrial })(candidate, signal)).rejects.toMatchObject({ reason });
    expect(answers).toEqual([]);
  });

  test("requests the front page of the candidate at its own address", async () => {
    const requests: unknown[] = [];
    const runTrial = async (order: unknown) => {
      requests.push(order);
      return fine;
    };
    expect(await makeRunTrial({ runTrial })(candidate, signal)).toBe(true);
    const php = { runtime: "playground", phpVersion: "8.4" };
    const environment = { id: "e", number: 1, ...php, isFrozen: false, isOffline: false, ...layout };
    const host = "demo.localhost:8081";
    expect(requests).toEqual([{ environment, host, url: "/", isReadOnly: true, isHttps: false }]);
    await makeRunTrial({ runTrial })({ ...candidate, address: "https://demo.example" }, signal);
    expect(requests.pop()).toMatchObject({ host: "demo.example", isHttps: true });
    await makeRunTrial({ runTrial })({ ...candidate, page: loginPage, isOffline: true }, signal);
    expect(requests[1]).toMatchObject({ environment: { isOffline: true }, url: "/wp-login.php" });
  });

  test("the candidate's PHP counts towards its company", async () => {
    const requests: unknown[] = [];
    const runTrial = async (order: unknown) => {
      requests.push(order);
      return fine;
    };
    const environment = { ...candidate.environment, companyId: "c" };
    await makeRunTrial({ runTrial })({ ...candidate, environment }, signal);
    expect(requests).toMatchObject([{ environment: { companyId: "c" } }]);
  });

  test.each([
    ["accepts maintenance mode", frontPageOrMaintenance, 503, "", null],
    [
      "rejects maintenance mode with a PHP error",
      frontPageOrMaintenance,
      503,
      "PHP Fatal error:  Boom",
      "has the status 503: PHP Fatal error:  Boom",
    ],
    ["rejects a broken site", frontPageOrMaintenance, 500, "", "has the status 500"],
    ["rejects maintenance mode of other sites", frontPage, 503, "", "has the status 503"],
  ] as const)("of a restored site %s", (_, page, status, errors, fault) => {
    const expected = fault === null ? null : `its front page ${fault}`;
    expect(faultOf({ ...fine, status, errors }, page)).toBe(expected);
  });

  test.each<[page: string, redirects: Readonly<Record<string, string>>, requests: readonly string[]]>([
    ["/?p=1", { "/?p=1": "http://demo.localhost:8081/hello/?a=b" }, ["/?p=1", "/hello/?a=b"]],
    ["/cart", { "/cart": "cart/", "/cart/": "/shop/" }, ["/cart", "/cart/", "/shop/"]],
    ["/pay", { "/pay": "https://bank.example/pay" }, ["/pay"]],
    ["/loop", { "/loop": "/loop" }, Array(6).fill("/loop")],
  ])("follows redirects of the checked page %s within the site", async (path, redirects, requests) => {
    const urls: string[] = [];
    const runTrial = async ({ url }: { readonly url: string }) => {
      urls.push(url);
      const location = redirects[url];
      return location === undefined ? fine : { ...fine, status: 301, location };
    };
    expect(await makeRunTrial({ runTrial })({ ...candidate, page: updateCheckPage(path) }, signal)).toBe(true);
    expect(urls).toEqual(requests);
    await makeRunTrial({ runTrial })({ ...candidate, page: { ...frontPage, url: path } }, signal);
    expect(urls).toHaveLength(requests.length + 1);
  });

  test("follows redirects of an updated site's front page, also to HTTPS", async () => {
    const requests: unknown[] = [];
    const runTrial = async ({ url, isHttps }: TrialOrder): Promise<Trial> => {
      requests.push([url, isHttps]);
      if (!isHttps) return { ...fine, status: 301, location: "https://demo.localhost:8081/" };
      if (url === "/") return { ...fine, status: 302, location: "en/" };
      return { ...fine, status: 500, errors: parseError };
    };
    const tried = makeRunTrial({ runTrial })({ ...candidate, page: comparedFrontPage }, signal);
    await expect(tried).rejects.toThrow("its front page has the status 500: PHP Parse error:");
    expect(requests).toEqual([
      ["/", false],
      ["/", true],
      ["/en/", true],
    ]);
  });

  test("fails if a checked page redirects to a missing page", async () => {
    const runTrial = async ({ url }: { readonly url: string }) =>
      url === "/?p=1" ? { ...fine, status: 301, location: "/hello/" } : { ...fine, status: 404 };
    const page = updateCheckPage("/?p=1");
    await expect(makeRunTrial({ runTrial })({ ...candidate, page }, signal)).rejects.toThrow(
      "its page /?p=1 has the status 404.",
    );
  });

  test("a full disk is reported as such, and not as a fault of the site", async () => {
    const runTrial = async () => ({ ...fine, status: 0, isComplete: false, reason: "diskFull" });
    const failed = makeRunTrial({ runTrial })({ ...candidate, isReadOnly: false }, signal);
    await expect(failed).rejects.toMatchObject({ reason: "diskFull", kind: null, isTransient: false });
    await expect(failed).rejects.toThrow("because the disk is full. Raise the environment's quota, remove files, or");
  });

  test("resolves with false if PHP tried to write to read-only data", async () => {
    const runTrial = async () => ({ ...fine, status: 0, isComplete: false, reason: "wouldWrite" });
    expect(await makeRunTrial({ runTrial })(candidate, signal)).toBe(false);
  });

  describe("compared with the current release", () => {
    const current = { ...layout, release: 1 };
    const incomplete = { ...fine, isComplete: false };
    const gone = { ...fine, status: 404 };
    const maintenance = { ...fine, status: 503 };
    const unknown = ", and could not be compared with the current one, which would write to the site";
    const loop = { ...incomplete, status: 302, location: "?" };
    const setUp = { ...incomplete, status: 302, location: "/wp-admin/install.php?a=b" };
    const [login = comparedFrontPage] = loginAndDashboard;
    const noResponse = (reason: string): Trial => ({ ...fine, status: 0, isComplete: false, reason });

    /** Two releases that give these answers, and the requests that they get. */
    function releases(before: (url: string) => Trial, now: Trial) {
      const requests: string[] = [];
      const runTrial = async ({ environment, url, isReadOnly }: TrialOrder) => {
        requests.push(`${environment.release} ${url}${isReadOnly ? "" : " writing"}`);
        return environment.release === 2 ? now : before(url);
      };
      return { requests, runTrial: makeRunTrial({ runTrial }) };
    }

    test.each<[string, page: TrialPage, before: Trial, now: Trial, fault: string | null]>([
      ["is complete and was not", comparedFrontPage, incomplete, fine, null],
      ["is incomplete, as before", comparedFrontPage, incomplete, incomplete, null],
      ["is incomplete and was an error", comparedFrontPage, { ...fine, status: 500 }, incomplete, null],
      ["is missing, as before", comparedFrontPage, gone, gone, null],
      ["is now incomplete", comparedFrontPage, fine, incomplete, "is incomplete, unlike before"],
      [
        "redirects to another site",
        comparedFrontPage,
        fine,
        { ...incomplete, status: 302, location: "https://other.example/" },
        null,
      ],
      ["is now a redirect loop", comparedFrontPage, fine, loop, "is a redirect loop, unlike before"],
      ["is a redirect loop, as before", comparedFrontPage, loop, loop, null],
      ["is a redirect loop and was an error", comparedFrontPage, gone, loop, null],
      [
        "that is checked is now a redirect loop",
        updateCheckPage("/loop"),
        fine,
        loop,
        "is a redirect loop, unlike before",
      ],
      [
        "that is checked is a redirect loop, and the current one is unknown",
        updateCheckPage("/loop"),
        noResponse("wouldWrite"),
        loop,
        null,
      ],
      [
        "redirects to the set-up, and the current one is unknown",
        comparedFrontPage,
        noResponse("wouldWrite"),
        setUp,
        `redirects to /wp-admin/install.php?a=b${unknown}`,
      ],
      ["is in maintenance mode, as before", comparedFrontPage, maintenance, maintenance, null],
      ["is now in maintenance mode", comparedFrontPage, fine, maintenance, "has the status 503, unlike before"],
      [
        "now redirects to the set-up",
        comparedFrontPage,
        fine,
        setUp,
        "redirects to /wp-admin/install.php?a=b, unlike before",
      ],
      ["redirects to the set-up, as before", comparedFrontPage, setUp, setUp, null],
      [
        "is incomplete and was a redirect",
        comparedFrontPage,
        { ...incomplete, status: 302 },
        incomplete,
        "is incomplete, unlike before",
      ],
      ["is now missing", comparedFrontPage, fine, gone, "has the status 404, unlike before"],
      [
        "now asks for a password",
        comparedFrontPage,
        fine,
        { ...incomplete, status: 401 },
        "has the status 401, unlike before",
      ],
      [
        "is incomplete, and the current one is unknown",
        comparedFrontPage,
        noResponse("wouldWrite"),
        incomplete,
        `is incomplete${unknown}`,
      ],
      [
        "is missing, and the current one is unknown",
        comparedFrontPage,
        noResponse("wouldWrite"),
        gone,
        `has the status 404${unknown}`,
      ],
      ["is a missing login page, and the current one is unknown", login, noResponse("wouldWrite"), gone, null],
      [
        "that is checked is incomplete, and the current one is unknown",
        updateCheckPage("/feed"),
        noResponse("wouldWrite"),
        incomplete,
        null,
      ],
      ["that is checked is incomplete, as before", updateCheckPage("/feed"), incomplete, incomplete, null],
      ["that is checked is now incomplete", updateCheckPage("/cart"), fine, incomplete, "is incomplete, unlike before"],
      ["is incomplete, and the current one timed out", comparedFrontPage, noResponse("deadline"), incomplete, null],
    ])("a page %s", async (_, page, before, now, fault) => {
      const { runTrial } = releases(() => before, now);
      const tried = runTrial({ ...candidate, current, page, isReadOnly: false }, signal);
      if (fault === null) expect(await tried).toBe(true);
      else await expect(tried).rejects.toThrow(`The site on PHP 8.4 failed its check: its ${page.name} ${fault}.`);
    });

    const broken = { ...fine, status: 500, isComplete: false, errors: parseError };
    const [, dashboard = frontPage] = loginAndDashboard;
    const parsed = "has the status 500: PHP Parse error:  syntax error in /site/a.php on line 3";
    test.each<[string, page: TrialPage, before: Trial, now: Trial, fault: string | null]>([
      ["front page is an error, as before", comparedFrontPage, broken, broken, null],
      ["dashboard is an error, as before", dashboard, { ...broken, errors: "" }, broken, null],
      [
        "front page is an error, and the current one took too long",
        comparedFrontPage,
        noResponse("deadline"),
        broken,
        null,
      ],
      [
        "front page took too long, and the current one is an error",
        comparedFrontPage,
        broken,
        noResponse("deadline"),
        null,
      ],
      ["checked page is an error, as before", updateCheckPage("/cart"), broken, broken, null],
      ["front page is now an error", comparedFrontPage, fine, broken, parsed],
      ["front page is an error, and was missing", comparedFrontPage, gone, broken, parsed],
      ["front page is an error, and was in maintenance mode", comparedFrontPage, maintenance, broken, parsed],
      [
        "front page is an error, and the current one is unknown",
        comparedFrontPage,
        noResponse("wouldWrite"),
        broken,
        parsed,
      ],
      ["dashboard is now an error", dashboard, fine, broken, parsed],
      ["checked page is missing, as before", updateCheckPage("/cart"), gone, gone, "has the status 404"],
    ])("of a broken site: the %s", async (_, page, before, now, fault) => {
      const { runTrial } = releases(() => before, now);
      const tried = runTrial({ ...candidate, current, page, isReadOnly: false }, signal);
      if (fault === null) expect(await tried).toBe(true);
      else await expect(tried).rejects.toThrow(`its ${page.name} ${fault}.`);
    });

    test("an error is temporary if the current page got no PHP process", async () => {
      const { runTrial } = releases(() => noResponse("busy"), broken);
      const tried = runTrial({ ...candidate, current, page: comparedFrontPage, isReadOnly: false }, signal);
      await expect(tried).rejects.toMatchObject({ isTransient: true });
    });

    test("requests the current page only if there is doubt, and read-only", async () => {
      const one = { ...candidate, current, page: comparedFrontPage, isReadOnly: false };
      const good = releases(() => fine, fine);
      await good.runTrial(one, signal);
      expect(good.requests).toEqual(["2 / writing"]);
      const doubtful = releases(() => incomplete, incomplete);
      await doubtful.runTrial(one, signal);
      expect(doubtful.requests).toEqual(["2 / writing", "1 /"]);
      const alone = releases(() => fine, incomplete);
      expect(await alone.runTrial({ ...candidate, page: comparedFrontPage }, signal)).toBe(true);
      expect(alone.requests).toEqual(["2 /"]);
    });

    test("does not compare pages without a comparison", async () => {
      const { requests, runTrial } = releases(() => fine, { ...fine, status: 400, isComplete: false });
      const [, dashboard] = loginAndDashboard;
      expect(await runTrial({ ...candidate, current, ...(dashboard && { page: dashboard }) }, signal)).toBe(true);
      expect(requests).toHaveLength(1);
    });

    test("compares the redirect targets of a checked page", async () => {
      const redirect = { ...incomplete, status: 301, location: "/hello/" };
      const { requests, runTrial } = releases((url) => (url === "/?p=1" ? redirect : fine), incomplete);
      const tried = runTrial({ ...candidate, current, page: updateCheckPage("/?p=1") }, signal);
      await expect(tried).rejects.toThrow("its page /?p=1 is incomplete, unlike before.");
      expect(requests).toEqual(["2 /?p=1", "1 /?p=1", "1 /hello/"]);
    });

    test("is retried if the current release is busy", async () => {
      const { runTrial } = releases(() => noResponse("busy"), incomplete);
      const error: unknown = await runTrial({ ...candidate, current, page: comparedFrontPage }, signal).catch(
        (thrown: unknown) => thrown,
      );
      expect(error instanceof TrialFailed && error.isTransient).toBe(true);
    });
  });

  test.each([
    ["crashed", false, "refused"],
    ["deadline", false, "refused"],
    ["busy", true, null],
    ["unavailable", false, null],
  ])("rejects with StepFailure for the reason %s", async (reason, isTransient, kind) => {
    const runTrial = async () => ({ ...fine, status: 0, isComplete: false, reason });
    const error: unknown = await makeRunTrial({ runTrial })(candidate, signal).catch((thrown: unknown) => thrown);
    if (!(error instanceof StepFailure)) throw new Error("It did not reject with StepFailure");
    expect(error.message).toMatch(/^The site on PHP 8\.4 failed its check: .+\.$/);
    expect([error.isTransient, error.kind]).toEqual([isTransient, kind]);
    expect(error instanceof TrialFailed && error.reason).toBe(reason);
  });
});
