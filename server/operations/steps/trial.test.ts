import type { EnvironmentLayout } from "@sitewright/runtimes/runtime.ts";
import { describe, expect, test } from "vitest";
import type { Trial, TrialOrder } from "../../clients/edgeClient.ts";
import { StepFailure } from "../engine/operation.ts";
import {
  faultOf,
  frontPage,
  frontPageOrClosed,
  loginAndDashboard,
  loginPage,
  makeTryOut,
  namedPage,
  sameFrontPage,
  TrialFailed,
  type TrialPage,
} from "./trial.ts";

const fine: Trial = { status: 200, isWhole: true, errors: "", reason: null, location: null };
const parseError =
  "[21-Nov-2026 10:00:00 UTC] PHP Warning:  first\n[21-Nov-2026 10:00:00 UTC] PHP Parse error:  syntax error in /site/a.php on line 3\n";

describe("a page that was tried out", () => {
  test.each<[string, Partial<Trial>, string | null]>([
    ["came", {}, null],
    ["is a redirect", { status: 302, isWhole: false, location: "/en/" }, null],
    ["asks for a password", { status: 401, isWhole: false }, null],
    ["is no HTML", { isWhole: false }, null],
    ["came although something was logged", { errors: parseError }, null],
    ["is an error", { status: 500 }, "its front page has the status 500"],
    [
      "is an error with PHP's own words",
      { status: 500, errors: parseError },
      "its front page has the status 500: PHP Parse error:  syntax error in /site/a.php on line 3",
    ],
    [
      "breaks off with PHP's own words",
      { isWhole: false, errors: parseError },
      "its front page breaks off: PHP Parse error:  syntax error in /site/a.php on line 3",
    ],
    ["never came", { status: 0, isWhole: false, reason: "deadline" }, "its front page took too long"],
    ["never came, whyever", { status: 0, isWhole: false, reason: "elsewise" }, "it gave no answer"],
  ])("%s", (_, trial, fault) => {
    expect(faultOf({ ...fine, ...trial })).toBe(fault);
  });
});

describe("a login page that was tried out", () => {
  const installation = "http://demo.localhost:8081/wp-admin/install.php";
  test.each<[string, Partial<Trial>, string | null]>([
    ["came", {}, null],
    ["is elsewhere", { status: 302, isWhole: false, location: "/members/" }, null],
    ["breaks off", { isWhole: false }, "its login page breaks off"],
    ["is not there", { status: 404 }, "its login page has the status 404"],
    ["is an error", { status: 500 }, "its login page has the status 500"],
    [
      "is that of nothing",
      { status: 302, isWhole: false, location: installation },
      "its login page leads to WordPress's installation",
    ],
    ["never came", { status: 0, isWhole: false, reason: "deadline" }, "its login page took too long"],
    ["killed PHP", { status: 0, isWhole: false, reason: "crashed" }, "PHP crashed while it made the login page"],
  ])("%s", (_, trial, fault) => {
    expect(faultOf({ ...fine, ...trial }, loginPage)).toBe(fault);
  });
});

describe("trying out", () => {
  const layout: EnvironmentLayout = {
    release: 2,
    documentRoot: "/x",
    overlays: {},
    multisite: null,
    wordpressVersion: null,
  };
  const candidate = {
    environment: { id: "e", number: 1 },
    phpVersion: "8.4",
    layout,
    address: "http://demo.localhost:8081",
    what: "The site on PHP 8.4",
    isReadOnly: true,
  };
  const { signal } = new AbortController();

  test("asks the edge for the front page of exactly what would be served, by its own name", async () => {
    const asked: unknown[] = [];
    const tryOut = async (order: unknown) => {
      asked.push(order);
      return fine;
    };
    expect(await makeTryOut({ tryOut })(candidate, signal)).toBe(true);
    const environment = { id: "e", number: 1, phpVersion: "8.4", isFrozen: false, isOffline: false, ...layout };
    const host = "demo.localhost:8081";
    expect(asked).toEqual([{ environment, host, url: "/", isReadOnly: true, isHttps: false }]);
    await makeTryOut({ tryOut })({ ...candidate, address: "https://demo.example" }, signal);
    expect(asked.pop()).toMatchObject({ host: "demo.example", isHttps: true });
    await makeTryOut({ tryOut })({ ...candidate, page: loginPage, isOffline: true }, signal);
    expect(asked[1]).toMatchObject({ environment: { isOffline: true }, url: "/wp-login.php" });
  });

  test.each([
    ["a site that is closed for maintenance", frontPageOrClosed, 503, "", null],
    [
      "the same with an error of PHP's",
      frontPageOrClosed,
      503,
      "PHP Fatal error:  Boom",
      "has the status 503: PHP Fatal error:  Boom",
    ],
    ["a site that is broken", frontPageOrClosed, 500, "", "has the status 500"],
    ["the same where nothing may be closed", frontPage, 503, "", "has the status 503"],
  ] as const)("of what comes back, %s is what it should be or not", (_, page, status, errors, fault) => {
    const wanted = fault === null ? null : `its front page ${fault}`;
    expect(faultOf({ ...fine, status, errors }, page)).toBe(wanted);
  });

  test.each<[page: string, leadsTo: Readonly<Record<string, string>>, asked: readonly string[]]>([
    ["/?p=1", { "/?p=1": "http://demo.localhost:8081/hello/?a=b" }, ["/?p=1", "/hello/?a=b"]],
    ["/cart", { "/cart": "cart/", "/cart/": "/shop/" }, ["/cart", "/cart/", "/shop/"]],
    ["/pay", { "/pay": "https://bank.example/pay" }, ["/pay"]],
    ["/ring", { "/ring": "/ring" }, Array(6).fill("/ring")],
  ])("follows a page that was named, %s, on the same site", async (path, leadsTo, asked) => {
    const urls: string[] = [];
    const tryOut = async ({ url }: { readonly url: string }) => {
      urls.push(url);
      const location = leadsTo[url];
      return location === undefined ? fine : { ...fine, status: 301, location };
    };
    expect(await makeTryOut({ tryOut })({ ...candidate, page: namedPage(path) }, signal)).toBe(true);
    expect(urls).toEqual(asked);
    await makeTryOut({ tryOut })({ ...candidate, page: { ...frontPage, url: path } }, signal);
    expect(urls).toHaveLength(asked.length + 1);
  });

  test("follows the front page of the same site in other versions, by https where that leads there", async () => {
    const asked: unknown[] = [];
    const tryOut = async ({ url, isHttps }: TrialOrder): Promise<Trial> => {
      asked.push([url, isHttps]);
      if (!isHttps) return { ...fine, status: 301, location: "https://demo.localhost:8081/" };
      if (url === "/") return { ...fine, status: 302, location: "en/" };
      return { ...fine, status: 500, errors: parseError };
    };
    const tried = makeTryOut({ tryOut })({ ...candidate, page: sameFrontPage }, signal);
    await expect(tried).rejects.toThrow("its front page has the status 500: PHP Parse error:");
    expect(asked).toEqual([
      ["/", false],
      ["/", true],
      ["/en/", true],
    ]);
  });

  test("fails where what a named page leads to is no page", async () => {
    const tryOut = async ({ url }: { readonly url: string }) =>
      url === "/?p=1" ? { ...fine, status: 301, location: "/hello/" } : { ...fine, status: 404 };
    const page = namedPage("/?p=1");
    await expect(makeTryOut({ tryOut })({ ...candidate, page }, signal)).rejects.toThrow(
      "its page /?p=1 has the status 404.",
    );
  });

  test("tells that nothing is known where PHP wanted to change what it may not", async () => {
    const tryOut = async () => ({ ...fine, status: 0, isWhole: false, reason: "wouldWrite" });
    expect(await makeTryOut({ tryOut })(candidate, signal)).toBe(false);
  });

  describe("beside what the site is at present", () => {
    const present = { ...layout, release: 1 };
    const half = { ...fine, isWhole: false };
    const gone = { ...fine, status: 404 };
    const closed = { ...fine, status: 503 };
    const unknown = ", and whether it does at present can't be seen without changing something";
    const circle = { ...half, status: 302, location: "?" };
    const setUp = { ...half, status: 302, location: "/wp-admin/install.php?a=b" };
    const [hideable = sameFrontPage] = loginAndDashboard;
    const unanswered = (reason: string): Trial => ({ ...fine, status: 0, isWhole: false, reason });

    /** Two releases that answer what is given, and what each was asked for. */
    function releases(before: (url: string) => Trial, now: Trial) {
      const asked: string[] = [];
      const tryOut = async ({ environment, url, isReadOnly }: TrialOrder) => {
        asked.push(`${environment.release} ${url}${isReadOnly ? "" : " writing"}`);
        return environment.release === 2 ? now : before(url);
      };
      return { asked, tryOut: makeTryOut({ tryOut }) };
    }

    test.each<[string, page: TrialPage, before: Trial, now: Trial, fault: string | null]>([
      ["is whole and was not", sameFrontPage, half, fine, null],
      ["has no end and had none", sameFrontPage, half, half, null],
      ["has no end and was an error", sameFrontPage, { ...fine, status: 500 }, half, null],
      ["is another page that is not there either", sameFrontPage, gone, gone, null],
      ["lost its end", sameFrontPage, fine, half, "does not come to its end, unlike at present"],
      ["leads elsewhere", sameFrontPage, fine, { ...half, status: 302, location: "https://other.example/" }, null],
      ["leads in a circle", sameFrontPage, fine, circle, "leads in a circle, unlike at present"],
      ["was leading in a circle", sameFrontPage, circle, circle, null],
      ["leads in a circle and was an error", sameFrontPage, gone, circle, null],
      ["leads in a circle as a named one", namedPage("/ring"), fine, circle, "leads in a circle, unlike at present"],
      ["leads in a circle where nobody can tell", namedPage("/ring"), unanswered("wouldWrite"), circle, null],
      [
        "leads to the set-up where nobody can tell",
        sameFrontPage,
        unanswered("wouldWrite"),
        setUp,
        `leads to /wp-admin/install.php?a=b${unknown}`,
      ],
      ["is closed, as it was", sameFrontPage, closed, closed, null],
      ["is closed, and was not", sameFrontPage, fine, closed, "has the status 503, unlike at present"],
      ["leads to the set-up", sameFrontPage, fine, setUp, "leads to /wp-admin/install.php?a=b, unlike at present"],
      ["led to the set-up", sameFrontPage, setUp, setUp, null],
      [
        "was leading elsewhere",
        sameFrontPage,
        { ...half, status: 302 },
        half,
        "does not come to its end, unlike at present",
      ],
      ["is not there any more", sameFrontPage, fine, gone, "has the status 404, unlike at present"],
      [
        "asks for a password now",
        sameFrontPage,
        fine,
        { ...half, status: 401 },
        "has the status 401, unlike at present",
      ],
      [
        "has no end where nobody can tell what it had",
        sameFrontPage,
        unanswered("wouldWrite"),
        half,
        `does not come to its end${unknown}`,
      ],
      [
        "is not there where nobody can tell",
        sameFrontPage,
        unanswered("wouldWrite"),
        gone,
        `has the status 404${unknown}`,
      ],
      ["may be hidden where nobody can tell", hideable, unanswered("wouldWrite"), gone, null],
      ["is anything where nobody can tell", namedPage("/feed"), unanswered("wouldWrite"), half, null],
      ["is anything that never had an end", namedPage("/feed"), half, half, null],
      ["lost its end as a named one", namedPage("/cart"), fine, half, "does not come to its end, unlike at present"],
      ["has no end where there is no answer now", sameFrontPage, unanswered("deadline"), half, null],
    ])("a page %s", async (_, page, before, now, fault) => {
      const { tryOut } = releases(() => before, now);
      const tried = tryOut({ ...candidate, present, page, isReadOnly: false }, signal);
      if (fault === null) expect(await tried).toBe(true);
      else
        await expect(tried).rejects.toThrow(
          `The site on PHP 8.4 does not answer as it should: its ${page.name} ${fault}.`,
        );
    });

    test("the present one is asked only where there is doubt, and changes nothing", async () => {
      const one = { ...candidate, present, page: sameFrontPage, isReadOnly: false };
      const good = releases(() => fine, fine);
      await good.tryOut(one, signal);
      expect(good.asked).toEqual(["2 / writing"]);
      const doubtful = releases(() => half, half);
      await doubtful.tryOut(one, signal);
      expect(doubtful.asked).toEqual(["2 / writing", "1 /"]);
      const alone = releases(() => fine, half);
      expect(await alone.tryOut({ ...candidate, page: sameFrontPage }, signal)).toBe(true);
      expect(alone.asked).toEqual(["2 /"]);
    });

    test("a page that is nothing to be compared is what it is", async () => {
      const { asked, tryOut } = releases(() => fine, { ...fine, status: 400, isWhole: false });
      const [, dashboard] = loginAndDashboard;
      expect(await tryOut({ ...candidate, present, ...(dashboard && { page: dashboard }) }, signal)).toBe(true);
      expect(asked).toHaveLength(1);
    });

    test("what a named page leads to is compared with what it led to", async () => {
      const leads = { ...half, status: 301, location: "/hello/" };
      const { asked, tryOut } = releases((url) => (url === "/?p=1" ? leads : fine), half);
      const tried = tryOut({ ...candidate, present, page: namedPage("/?p=1") }, signal);
      await expect(tried).rejects.toThrow("its page /?p=1 does not come to its end, unlike at present.");
      expect(asked).toEqual(["2 /?p=1", "1 /?p=1", "1 /hello/"]);
    });

    test("it is tried once more where the present one has no time", async () => {
      const { tryOut } = releases(() => unanswered("busy"), half);
      const error: unknown = await tryOut({ ...candidate, present, page: sameFrontPage }, signal).catch(
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
  ])("fails as a step does where PHP %s", async (reason, isTransient, kind) => {
    const tryOut = async () => ({ ...fine, status: 0, isWhole: false, reason });
    const error: unknown = await makeTryOut({ tryOut })(candidate, signal).catch((thrown: unknown) => thrown);
    if (!(error instanceof StepFailure)) throw new Error("It did not fail as a step does");
    expect(error.message).toMatch(/^The site on PHP 8\.4 does not answer as it should: .+\.$/);
    expect([error.isTransient, error.kind]).toEqual([isTransient, kind]);
    expect(error instanceof TrialFailed && error.reason).toBe(reason);
  });
});
