import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { exampleRequest } from "../conformance/conformance.ts";
import type { OutgoingMail } from "../serving.ts";
import { servedAs } from "../testing/handMade.ts";
import { addScript, outcomeOf, runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { openWorld, type SiteWorld } from "../testing/world.ts";

interface TakenMail extends OutgoingMail {
  readonly environmentId: string;
}

let world: SiteWorld;
let site: Site;
let taken: TakenMail[];
/** Accepts the next messages with null, or refuses them with a reason. */
let verdict: () => Promise<string | null>;

beforeAll(async () => {
  world = await openWorld({
    acceptMail: async (environmentId, mail) => {
      taken.push({ environmentId, ...mail });
      return verdict();
    },
  });
  site = await world.site();
}, 120_000);
afterAll(() => world.close());
beforeEach(() => {
  taken = [];
  verdict = async () => null;
});

const php = (code: string) => runPhp(world.serving, site, code);
const wordpress = (code: string) => php(`require '/site/wp-load.php'; ${code}`);
const messages = () => taken.map(({ message }) => message.toString());

describe("mail()", () => {
  test("hands over the message as PHP wrote it, with its environment", async () => {
    expect(await php("var_dump(mail('ada@example.com', 'Hello', \"One\\nTwo\", 'From: shop@example.com'));")).toBe(
      "bool(true)\n",
    );
    expect(taken).toMatchObject([{ environmentId: site.environment.id, sender: null }]);
    const [message = ""] = messages();
    expect(message.split(/\r?\n/)).toEqual(
      expect.arrayContaining(["To: ada@example.com", "Subject: Hello", "From: shop@example.com", "One", "Two"]),
    );
  });

  test("returns false if the message was not kept", async () => {
    verdict = async () => "the queue is full";
    await addScript(site, "refused.php", "var_dump(mail('ada@example.com', 'Hello', 'text'));");
    expect((await visitorOf(world.serving, site).get("/refused.php")).text).toBe("bool(false)\n");
    verdict = () => Promise.reject(new Error("disk"));
    expect(await php("var_dump(mail('ada@example.com', 'Hello', 'text'));")).toBe("bool(false)\n");
  });

  test("waits until the message is kept", async () => {
    const kept = Promise.withResolvers<null>();
    verdict = () => kept.promise;
    let isOver = false;
    const page = php("var_dump(mail('ada@example.com', 'Hello', 'text'));").then((printed) => {
      isOver = true;
      return printed;
    });
    await expect.poll(() => taken.length, { timeout: 20_000 }).toBe(1);
    expect(isOver).toBe(false);
    kept.resolve(null);
    expect(await page).toBe("bool(true)\n");
  });

  test("sends several messages in order and unchanged", async () => {
    const code =
      'for ($i = 0; $i < 20; $i++) { if (!mail("u$i@example.com", "S$i", str_repeat("$i", 5000))) echo \'no\'; }';
    expect(await php(code)).toBe("");
    expect(messages().map((message) => /^To: (.*?)\r?$/m.exec(message)?.[1])).toEqual(
      Array.from({ length: 20 }, (_, index) => `u${index}@example.com`),
    );
    expect(messages()[7]).toContain("7".repeat(5000));
  });

  test("sends large messages completely and refuses those above the limit", async () => {
    const send = (bytes: number) =>
      `ini_set('memory_limit', '-1'); var_dump(mail('ada@example.com', 'Big', str_repeat(str_repeat('x', 99) . "\\n", ${bytes / 100})));`;
    expect(await php(send(10e6))).toBe("bool(true)\n");
    expect(messages()[0]?.match(/x{99}/g)).toHaveLength(100_000);
    expect(await php(send(27e6))).toBe("bool(false)\n");
    expect(taken).toHaveLength(1);
  });

  test.each([
    ["-fbounce@example.com", "bounce@example.com"],
    ["-f bounce@example.com", "bounce@example.com"],
    ["-oi -fbounce+a.b=c@example.com", "bounce+a.b=c@example.com"],
  ])("takes the sender from %s", async (parameter, sender) => {
    expect(await php(`var_dump(mail('a@example.com', 's', 't', '', '${parameter}'));`)).toBe("bool(true)\n");
    expect(taken[0]?.sender).toBe(sender);
  });

  test.each([
    "-X/site/shell.php",
    "-C/etc/passwd",
    "-O QueueDirectory=/tmp",
    "-f",
    "-fa@example.com -Xlog",
    "-fa@example.com b@example.com",
    '-f"a b"@example.com',
    "-fa@example.com;id",
    "-fa@example.com\\nX",
    "$(id)",
    "`id`",
    "-be",
    "ada@example.com",
  ])("refuses other options: %s", async (parameter) => {
    expect(
      await php(`var_dump(mail('a@example.com', 's', 't', '', ${JSON.stringify(parameter).replaceAll("$", "\\$")}));`),
    ).toBe("bool(false)\n");
    expect(taken).toEqual([]);
  });
});

describe("WordPress", () => {
  test("wp_mail returns true and its message arrives", async () => {
    expect(
      await wordpress("var_dump(wp_mail('ada@example.com', 'Grüße', 'Schöne Grüße', 'Bcc: eve@example.com'));"),
    ).toBe("bool(true)\n");
    expect(messages()[0]).toContain("Subject: =?UTF-8?");
    expect(messages()[0]).toContain("Bcc: eve@example.com");
  });

  test("a user who forgot the password gets a link", async () => {
    const answer = await visitorOf(world.serving, site).post("/wp-login.php?action=lostpassword", {
      user_login: site.wordpress.adminUser,
      "wp-submit": "Get New Password",
    });
    expect(answer.status).toBe(302);
    expect(messages()[0]).toContain(`To: ${site.wordpress.adminEmail}`);
    expect(messages()[0]?.replaceAll("=\n", "")).toContain("action=rp");
  });
});

describe("no mail is sent", () => {
  const code = "var_dump(mail('ada@example.com', 'Hello', 'text'));";

  test("by a trial", async () => {
    await addScript(site, "trial.php", code);
    const request = exampleRequest(site.wordpress.address, { url: "/trial.php", script: "/trial.php" });
    const environment = await servedAs(world, site);
    for (const tried of [environment, { ...environment, isOffline: true }, { ...environment, maySendMail: true }]) {
      const answer = await world.serving.runTrial(tried, request);
      expect(await text(answer.body)).toBe("bool(false)\n");
      expect(await answer.errors).toContain("sendmail: nothing can be sent from here.");
    }
    expect(taken).toEqual([]);
  });

  test("by a read-only request, which then has no response", async () => {
    await addScript(site, "reading.php", code);
    const answer = visitorOf(world.serving, site).get("/reading.php", { isReadOnly: true });
    expect(await outcomeOf(answer)).toBe("wouldWrite");
    expect(taken).toEqual([]);
  });
});

test("messages sent at the same time keep their environments", async () => {
  const other = await world.site();
  await Promise.all([
    php("mail('a@example.com', 'first', '');"),
    runPhp(world.serving, other, "mail('b@example.com', 'second', '');"),
  ]);
  const found = taken.map(({ environmentId, message }) => [
    environmentId,
    /Subject: (\w+)/.exec(message.toString())?.[1],
  ]);
  expect(new Set(found.map(String))).toEqual(
    new Set([`${site.environment.id},first`, `${other.environment.id},second`]),
  );
});

describe("mail from a WP-CLI command", () => {
  const wp = (...argv: readonly string[]) => {
    const command = { phpVersion: world.phpVersion, argv, seconds: 60 };
    return world.runtime.runWpCli(site.environment, command, async () => undefined, new AbortController().signal);
  };

  test("is taken like mail from a page", { timeout: 120_000 }, async () => {
    const made = await wp("user", "create", "bob", "bob@example.com", "--send-email");
    expect(made).toMatchObject({ exitCode: 0 });
    expect(taken.every(({ environmentId }) => environmentId === site.environment.id)).toBe(true);
    expect(messages().filter((message) => /^To: bob@example\.com\r?$/m.test(message))).toHaveLength(1);
  });

  test("makes PHP wait until the message is kept, or return false and name the reason in the command's errors", {
    timeout: 120_000,
  }, async () => {
    const kept = Promise.withResolvers<null>();
    const asked = Promise.withResolvers<void>();
    const verdicts = [
      () => {
        asked.resolve();
        return kept.promise;
      },
      async () => "the queue is full",
      () => Promise.reject(new Error("disk")),
    ];
    verdict = () => verdicts.shift()?.() ?? Promise.resolve(null);
    let isOver = false;
    const outcome = wp("eval", "for ($i = 0; $i < 3; $i++) var_dump(wp_mail('ada@example.com', 'Sent', 'text'));");
    void outcome.finally(() => {
      isOver = true;
    });
    await asked.promise;
    await php("echo 1;");
    expect([isOver, taken.length]).toEqual([false, 1]);
    kept.resolve(null);
    const { stdout, stderr } = await outcome;
    expect(stdout.text).toBe("bool(true)\nbool(false)\nbool(false)\n");
    expect(stderr.text).toBe("sendmail: the queue is full.\nsendmail: it could not be stored.\n");
  });
});
