import { describe, expect, it } from "vitest";
import { parseSmtpUrl } from "../settings/smtpUrl.ts";
import { type DeliverOptions, makeDeliver } from "./deliver.ts";
import { answerOf, startMailServer, startScriptedServer } from "./testing/mailServer.ts";

const mail = {
  sender: "shop@example.com",
  recipients: ["ada@example.com", "eve@example.com"],
  message: Buffer.from("To: ada@example.com\r\nSubject: Hello\r\n\r\nText\r\n"),
};
const [ada, eve] = mail.recipients;

function deliverTo(address: string, more: Partial<DeliverOptions> = {}) {
  return makeDeliver({ server: parseSmtpUrl(address), name: "sites.example", ...more })(mail);
}

describe("an accepted message", () => {
  it("arrives unchanged, with its own envelope", async () => {
    await using server = await startMailServer();
    expect(await deliverTo(`smtp://127.0.0.1:${server.port}`)).toEqual({
      accepted: mail.recipients,
      rejected: [],
      deferred: [],
    });
    expect(server.received).toMatchObject([
      { from: mail.sender, to: mail.recipients, message: mail.message.toString() },
    ]);
  });

  it("may contain lines that start with a dot or are only a dot", async () => {
    await using server = await startMailServer();
    const message = Buffer.from("To: ada@example.com\r\n\r\n.\r\n..\r\n.a\r\nb.\r\n.\r\n");
    await makeDeliver({ server: parseSmtpUrl(`smtp://127.0.0.1:${server.port}`), name: "x" })({ ...mail, message });
    expect(server.received[0]?.message).toBe(message.toString());
  });

  it("may have recipients with non-ASCII addresses", async () => {
    await using server = await startMailServer();
    const recipients = ["jürgen@xn--mller-kva.example"];
    const deliver = makeDeliver({ server: parseSmtpUrl(`smtp://127.0.0.1:${server.port}`), name: "x" });
    expect(await deliver({ ...mail, recipients })).toMatchObject({ accepted: recipients, rejected: [], deferred: [] });
  });

  it("is sent with the configured login, to a local server also without TLS", async () => {
    const seen: unknown[] = [];
    await using server = await startMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, callback) => {
        seen.push([username, password]);
        callback(null, { user: username });
      },
    });
    const { accepted } = await deliverTo(`smtp://ada:p%40ss%2Fw%C3%B6rd@127.0.0.1:${server.port}`);
    expect(accepted).toEqual(mail.recipients);
    expect(seen).toEqual([["ada", "p@ss/wörd"]]);
  });

  it("is sent over TLS if the server supports it, implicit or by STARTTLS", async () => {
    await using startTls = await startMailServer({ hideSTARTTLS: false });
    await using implicitTls = await startMailServer({ secure: true });
    await deliverTo(`smtp://localhost:${startTls.port}`);
    await deliverTo(`smtps://localhost:${implicitTls.port}`);
    expect([...startTls.received, ...implicitTls.received]).toMatchObject([{ isSecure: true }, { isSecure: true }]);
  });
});

describe("a permanently rejected message", () => {
  it("is rejected for all recipients if the server rejects its content or sender", async () => {
    await using content = await startMailServer({}, () => answerOf(554, "This is spam"));
    await using sender = await startMailServer({
      onMailFrom: (_address, _session, callback) => callback(answerOf(553, "Not your address")),
    });
    for (const [server, words] of [
      [content, "554 This is spam"],
      [sender, "553 Not your address"],
    ] as const) {
      const delivery = await deliverTo(`smtp://127.0.0.1:${server.port}`);
      const message = expect.stringContaining(words);
      expect(delivery).toEqual({
        accepted: [],
        rejected: [
          { recipient: ada, message },
          { recipient: eve, message },
        ],
        deferred: [],
      });
    }
  });

  it("is accepted for the others if the server rejects one recipient", async () => {
    await using server = await startMailServer({
      onRcptTo: ({ address }, _session, callback) => callback(address === eve ? answerOf(550, "No such user") : null),
    });
    expect(await deliverTo(`smtp://127.0.0.1:${server.port}`)).toEqual({
      accepted: [ada],
      rejected: [{ recipient: eve, message: expect.stringContaining("550 No such user") }],
      deferred: [],
    });
    expect(server.received).toMatchObject([{ to: [ada] }]);
  });

  it("is rejected for recipients with a non-ASCII domain", async () => {
    await using server = await startMailServer({
      onRcptTo: (_address, _session, callback) => callback(answerOf(550, "No")),
    });
    const recipients = ["jürgen@xn--mller-kva.example", "ada@xn--mller-kva.example"];
    for (const hideSMTPUTF8 of [true, false]) {
      await using other = await startMailServer({
        hideSMTPUTF8,
        onRcptTo: ({ address }, _session, callback) => callback(address.startsWith("ada") ? answerOf(550, "No") : null),
      });
      const deliver = makeDeliver({ server: parseSmtpUrl(`smtp://127.0.0.1:${other.port}`), name: "x" });
      expect((await deliver({ ...mail, recipients })).rejected.map(({ recipient }) => recipient)).toContain(
        recipients[1],
      );
    }
    const deliver = makeDeliver({ server: parseSmtpUrl(`smtp://127.0.0.1:${server.port}`), name: "x" });
    expect((await deliver({ ...mail, recipients })).accepted).toEqual([]);
  });

  it("may be rejected for one recipient and deferred for another", async () => {
    await using server = await startMailServer({
      onRcptTo: ({ address }, _session, callback) =>
        callback(address === eve ? answerOf(550, "No such user") : answerOf(451, "Come back later")),
    });
    expect(await deliverTo(`smtp://127.0.0.1:${server.port}`)).toEqual({
      accepted: [],
      rejected: [{ recipient: eve, message: expect.stringContaining("550") }],
      deferred: [{ recipient: ada, message: expect.stringContaining("451") }],
    });
  });
});

describe("a message is retried", () => {
  const deferred = mail.recipients.map((recipient) => ({ recipient, message: expect.any(String) }));

  it.each([
    [421, "Too busy"],
    [452, "Disk full"],
  ])("after %s", async (code, words) => {
    await using server = await startMailServer({}, () => answerOf(code, words));
    const delivery = await deliverTo(`smtp://127.0.0.1:${server.port}`);
    expect(delivery).toEqual({ accepted: [], rejected: [], deferred });
    expect(delivery.deferred[0]?.message).toContain(words);
  });

  it("if nothing listens, or the host does not exist", async () => {
    const server = await startMailServer();
    await server[Symbol.asyncDispose]();
    expect(await deliverTo(`smtp://127.0.0.1:${server.port}`)).toEqual({ accepted: [], rejected: [], deferred });
    expect(await deliverTo("smtp://mail.invalid:25")).toEqual({ accepted: [], rejected: [], deferred });
  });

  it("if the password is wrong: the message is not to blame", async () => {
    await using server = await startMailServer({
      allowInsecureAuth: true,
      onAuth: (_auth, _session, callback) => callback(answerOf(535, "Wrong password")),
    });
    const delivery = await deliverTo(`smtp://ada:geheim@127.0.0.1:${server.port}`);
    expect(delivery).toEqual({ accepted: [], rejected: [], deferred });
    expect(JSON.stringify(delivery)).not.toContain("geheim");
  });

  it("if the server requires a login and none is configured", async () => {
    await using server = await startMailServer({ authOptional: false, allowInsecureAuth: true });
    expect(await deliverTo(`smtp://127.0.0.1:${server.port}`)).toEqual({ accepted: [], rejected: [], deferred });
  });

  const greeting = ["220 hello", "250 hello"];
  const upToContent = [...greeting, "250 sender", "250 first", "250 second", "354 go on"];

  it.each([
    ["never sends anything", []],
    ["is silent after the greeting", greeting],
    ["is silent after the content", upToContent],
  ])("if the server %s", async (_, lines) => {
    await using server = await startScriptedServer(lines, () => undefined);
    const delivery = await deliverTo(`smtp://127.0.0.1:${server.port}`, { silenceSeconds: 0.5 });
    expect(delivery).toEqual({ accepted: [], rejected: [], deferred });
  });

  it.each([
    ["after the greeting", greeting],
    ["after the content", upToContent],
  ])("if the server closes the connection %s", async (_, lines) => {
    await using server = await startScriptedServer(lines, (socket) => socket.destroy());
    expect(await deliverTo(`smtp://127.0.0.1:${server.port}`)).toEqual({ accepted: [], rejected: [], deferred });
  });

  it("if the server greets with an error or with nonsense", async () => {
    for (const line of ["554 No service here", "HTTP/1.1 400 Bad Request"]) {
      await using server = await startScriptedServer([line], (socket) => socket.destroy());
      expect(await deliverTo(`smtp://127.0.0.1:${server.port}`)).toEqual({ accepted: [], rejected: [], deferred });
    }
  });
});

it("the server's response is shortened to one line", async () => {
  await using server = await startMailServer({}, () => answerOf(554, `No ${"x".repeat(5_000)}`));
  const { rejected } = await deliverTo(`smtp://127.0.0.1:${server.port}`);
  expect(rejected[0]?.message).toMatch(/^554 No x{480,500}$/);
});
