/** Mail from a real WordPress to a real mail server. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { openPlayground, type Playground } from "@sitewright/runtimes/playground/testing/world.ts";
import type { AcceptMail } from "@sitewright/runtimes/serving.ts";
import { runPhp, type Site } from "@sitewright/runtimes/testing/visitor.ts";
import PostalMime from "postal-mime";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deliverMails } from "../reconcilers/deliverMails.ts";
import { makeTakeMails } from "../reconcilers/takeMails.ts";
import { parseSmtpUrl } from "../settings/smtpUrl.ts";
import { addCompany, addSite } from "../store/testing/rows.ts";
import { listMails } from "../store/traffic/mails.ts";
import { useTestDatabase } from "../testing/database.ts";
import { makeAcceptMail } from "./accept.ts";
import { makeDeliver } from "./deliver.ts";
import { openSpool } from "./spool.ts";
import { type MailServer, startMailServer } from "./testing/mailServer.ts";

const test = useTestDatabase();
let world: Playground;
let server: MailServer;
let site: Site;
/** The id of the site's environment in the database. */
let environmentId = "";

/** The same spool as in the edge process. */
const spool = () => openSpool(join(world.folder, "mail"));
const failures: unknown[] = [];
const acceptMail: AcceptMail = (_, mail) =>
  makeAcceptMail({ spool: spool(), onFailure: (error) => failures.push(error) })(environmentId, mail);

beforeAll(async () => {
  world = await openPlayground({ acceptMail });
  server = await startMailServer();
  site = await world.site();
  const { companyId } = await addCompany(test.database);
  ({ environmentId } = await addSite(test.database, companyId));
}, 120_000);
afterAll(async () => {
  await world.close();
  await server[Symbol.asyncDispose]();
});
beforeEach(async () => {
  server.received.length = 0;
  await test.database.deleteFrom("mails").execute();
});

const php = (code: string) => runPhp(world.serving, site, code);
const wordpress = (code: string) => php(`require '/site/wp-load.php'; ${code}`);

/** One round of the control process's periodic work. */
async function deliver(): Promise<void> {
  const { database } = test;
  await makeTakeMails({ database, spool: spool(), hasServer: true, onBroken: (mail) => failures.push(mail) })();
  const send = makeDeliver({ server: parseSmtpUrl(`smtp://127.0.0.1:${server.port}`), name: "localhost" });
  await deliverMails({ database, deliver: send, from: null, recipientsPerHour: 1_000 });
  expect(failures).toEqual([]);
}

const mails = async () => (await listMails(test.database, { environmentId, state: null, limit: 10, offset: 0 })).items;

describe("wp_mail", () => {
  it("returns true, and the message arrives with HTML and attachments", async () => {
    const code = `file_put_contents('/tmp/ü.bin', random_bytes(3000000)); echo md5_file('/tmp/ü.bin'), ' ';
      var_dump(wp_mail(array('Ada <ada@example.com>', 'bob@example.com'), 'Grüße, Ada', '<p>Schöne Grüße</p>\\n.\\n..',
        array('Content-Type: text/html; charset=UTF-8', 'From: Der Laden <laden@example.com>', 'Bcc: eve@example.com'),
        array('/tmp/ü.bin')));`;
    const [md5, result] = (await wordpress(code)).trim().split(" ");
    expect(result).toBe("bool(true)");
    await deliver();
    expect(server.received).toMatchObject([
      { from: "laden@example.com", to: ["ada@example.com", "bob@example.com", "eve@example.com"] },
    ]);
    const { message = "" } = server.received[0] ?? {};
    expect(message).not.toContain("eve@example.com");
    const email = await PostalMime.parse(message);
    expect(email).toMatchObject({
      subject: "Grüße, Ada",
      from: { name: "Der Laden", address: "laden@example.com" },
      attachments: [{ mimeType: "application/macbinary" }],
    });
    expect(email.html).toContain("<p>Schöne Grüße</p>");
    const content = email.attachments[0]?.content;
    const bytes = content instanceof ArrayBuffer ? new Uint8Array(content) : "";
    expect(createHash("md5").update(bytes).digest("hex")).toBe(md5);
    expect(await mails()).toMatchObject([{ state: "sent", subject: "Grüße, Ada" }]);
  });

  it("is kept and not sent if the environment is not live", async () => {
    const { database } = test;
    const rename = (name: string) =>
      database.updateTable("environments").set({ name }).where("id", "=", environmentId).execute();
    await rename("staging");
    expect(await wordpress("var_dump(wp_mail('customer@example.com', 'Your order', 'Thank you'));")).toBe(
      "bool(true)\n",
    );
    await deliver();
    await rename("live");
    expect(server.received).toEqual([]);
    expect(await mails()).toMatchObject([{ state: "kept", recipients: ["customer@example.com"] }]);
  });

  it("works in WP-CLI commands too, and is kept if the environment is not live", async () => {
    const rename = (name: string) =>
      test.database.updateTable("environments").set({ name }).where("id", "=", environmentId).execute();
    const code = "var_dump(wp_mail('ada@example.com', 'From a command', 'text'));";
    const command = { phpVersion: "8.3", argv: ["eval", code], seconds: 60 };
    const { signal } = new AbortController();
    for (const name of ["staging", "live"]) {
      await rename(name);
      const { stdout } = await world.runtime.runWpCli(site.environment, command, async () => undefined, signal);
      expect(stdout.text).toBe("bool(true)\n");
      await deliver();
    }
    expect(server.received).toMatchObject([{ to: ["ada@example.com"] }]);
    expect((await mails()).map(({ state }) => state).toSorted()).toEqual(["kept", "sent"]);
  }, 120_000);

  it("survives the death of every process once it has returned true", async () => {
    expect(await wordpress("var_dump(wp_mail('ada@example.com', 'Before the end', 'x'));")).toBe("bool(true)\n");
    // Here the message exists only on disk.
    expect(await spool().list()).toHaveLength(1);
    await deliver();
    expect(server.received).toHaveLength(1);
  });
});

describe("a line break that a visitor enters in a form", () => {
  const [victim, line] = ["victim@example.org", "\\r\\nBcc: victim@example.org"];

  it.each([
    ["in the subject of wp_mail", `wp_mail('ada@example.com', "Hi${line}", 'x')`],
    ["in the recipient of wp_mail", `wp_mail("ada@example.com${line}", 'Hi', 'x')`],
    ["in the subject of mail()", `mail('ada@example.com', "Hi${line}", 'x')`],
    ["in the recipient of mail()", `mail("ada@example.com${line}", 'Hi', 'x')`],
    ["in the recipient, folded", `mail("ada@example.com\\r\\n Bcc: ${victim}", 'Hi', 'x')`],
    ["in the name of From", `wp_mail('ada@example.com', 'Hi', 'x', "From: Eve${line} <eve@example.com>")`],
    ["in a second Bcc", `mail('ada@example.com', 'Hi', 'x', "Bcc: boss@example.com${line}")`],
    ["in a second To", `mail('ada@example.com', 'Hi', 'x', "From: eve@example.com\\r\\nTo: ${victim}")`],
    ["as a bare carriage return", `mail('ada@example.com', 'Hi', 'x', "X-Name: Eve\\rBcc: ${victim}")`],
    [
      "followed by a whole message",
      `mail('ada@example.com', 'Hi', 'x', "Reply-To: eve@example.com\\n\\nBcc: ${victim}")`,
    ],
  ])("does not add a recipient: %s", async (_, call) => {
    await wordpress(`try { @${call}; } catch (Throwable $e) {}`);
    await deliver();
    expect(server.received.flatMap(({ to }) => to)).not.toContain(victim);
  });
});
