import { describe, expect, it } from "vitest";
import { readEnvelope } from "./envelope.ts";

function read(header: string, sender: string | null = null) {
  return readEnvelope({ sender, message: Buffer.from(`${header}\r\n\r\nText`) });
}

describe("recipients", () => {
  it.each([
    ["To: ada@example.com", ["ada@example.com"]],
    ["To: Ada <ada@Example.COM>, eve@example.org", ["ada@example.com", "eve@example.org"]],
    [
      "to: ada@example.com\r\nCC: bob@example.com\r\nBcc: eve@example.com",
      ["ada@example.com", "bob@example.com", "eve@example.com"],
    ],
    ["To: ada@example.com, Ada <ada@example.com>", ["ada@example.com"]],
    ["To: undisclosed-recipients:;\r\nBcc: eve@example.com", ["eve@example.com"]],
    ['To: "Doe, Jane" <jane@example.com>', ["jane@example.com"]],
    ["To: ada@example.com <ada@example.com>", ["ada@example.com"]],
    ["To: =?UTF-8?Q?J=C3=BCrgen?= <j@example.com>", ["j@example.com"]],
    ["To: jürgen@müller.example", ["jürgen@xn--mller-kva.example"]],
    ["To: ada@example.com,\r\n eve@example.com", ["ada@example.com", "eve@example.com"]],
    ["To: ada@example.com,\n\teve@example.com", ["ada@example.com", "eve@example.com"]],
    ["To: o'neil+tag_1=x@example.com", ["o'neil+tag_1=x@example.com"]],
    ["To: ada@example.com (Ada Lovelace)", ["ada@example.com"]],
    ["To: admin@demo.localhost", ["admin@demo.localhost"]],
  ])("of %j", (header, recipients) => {
    expect(read(header).recipients).toEqual(recipients);
  });

  it("may be up to a hundred, on a line of any length", () => {
    const recipients = (count: number) =>
      Array.from({ length: count }, (_, at) => `recipient-number-${at}@example.com`).join(", ");
    expect(read(`To: ${recipients(100)}`).recipients).toHaveLength(100);
    expect(() => read(`To: ${recipients(60)}\r\nBcc: x@example.com, ${recipients(100)}`)).toThrow(
      "the message has more than 100 recipients",
    );
  });
});

describe("the sender", () => {
  it("is taken from -f, else from the field Sender, else from From, else null", () => {
    const header = "To: a@example.com\r\nFrom: Shop <shop@example.com>";
    expect(read(header, "bounce@example.com").sender).toBe("bounce@example.com");
    expect(read(`${header}\r\nSender: office@example.com`).sender).toBe("office@example.com");
    expect(read(header).sender).toBe("shop@example.com");
    expect(read("To: a@example.com").sender).toBeNull();
    expect(() => read(header, "bounce@-example-.com")).toThrow("not a valid address");
  });
});

describe("possible header injections are refused:", () => {
  const to = "To: a@example.com";

  it.each([
    ["a second field To", `${to}\r\nTo: v@example.com`, "the header contains the field to twice"],
    ["a second Bcc in other letters", `${to}\r\nBcc: b@example.com\r\nbCC : v@example.com`, "the field bcc twice"],
    ["a second Subject", `${to}\nSubject: a\nSubject: b`, "the field subject twice"],
    ["a second From", `${to}\r\nFrom: a@example.com\r\nFrom: b@example.com`, "the field from twice"],
    ["a second Content-Type", `${to}\r\nContent-Type: text/plain\r\nContent-Type: text/html`, "content-type twice"],
    ["a bare carriage return", `${to}\r\nSubject: a\rBcc: v@example.com`, "a carriage return"],
    ["a NUL", `${to}\r\nSubject: a\0b`, "a NUL"],
    ["a line that is not a field", `${to}\r\nSubject: a\r\nHello there`, "a line that is not a field"],
    ["a field without a name", `${to}\r\n: v@example.com`, "a line that is not a field"],
    ["a folded first line", ` To: a@example.com`, "a line that is not a field"],
    ["a line that is too long", `${to}\r\nSubject: ${"x".repeat(1_000)}`, "longer than 998"],
    ["a header that is too large", `${to}\r\n${"X-A: b\r\n".repeat(50_000)}X: y`, "larger than 256 KB"],
    ["no header", "", "no recipient"],
    ["no recipient", "Subject: a", "no recipient"],
    ["only an empty group", "To: nobody:;", "no recipient"],
    ["a name without an address", "To: Ada", "invalid address"],
    ["empty brackets", "To: Ada <>", "invalid address"],
    ["two addresses with a space between them", "To: a@example.com v@example.com", "invalid address"],
    ["a former line break", "To: a@example.com Bcc: v@example.com", "invalid address"],
    ["a space in an address", 'To: "a b"@example.com', "invalid address"],
    ["an address with a bracket", "To: a@example.com>\r\n", "invalid address"],
    ["a line break within an address", "To: a@exam\r\n ple.com", "invalid address"],
    ["an invalid domain", "To: a@-example.com", "invalid address"],
    ["a domain with a space", "To: a@exam ple.com", "invalid address"],
    ["an IP address as the domain", "To: a@[127.0.0.1]", "invalid address"],
    ["an address without a domain", "To: root", "invalid address"],
    ["misplaced dots", "To: .a..b@example.com", "invalid address"],
    ["a Reply-To with more than an address", `${to}\r\nReply-To: x@example.com Bcc: v@example.com`, "invalid address"],
    ["an invalid From", `${to}\r\nFrom: a@b c`, "invalid address"],
  ])("%s", (_, header, message) => {
    expect(() => read(header)).toThrow(message);
  });

  it("and the reason quotes nothing from the message", () => {
    for (const header of ["To: secret@exa mple.com", "To: a@example.com\r\nsecret", "X: secret"]) {
      expect(() => read(header)).toThrow(expect.objectContaining({ message: expect.not.stringContaining("secret") }));
    }
  });
});

describe("harmless messages are accepted:", () => {
  it.each([
    "To: a@example.com\r\nSubject: =?UTF-8?B?R3LDvMOfZQ==?=",
    "To: a@example.com\r\nSubject: Grüße",
    "To: a@example.com\r\nSubject: Bcc: v@example.com",
    "To: a@example.com\r\nSubject: long\r\n and folded\r\n\tthree times",
    "To: a@example.com\r\nReceived: a\r\nReceived: b\r\nX-Tag: 1\r\nX-Tag: 2",
    "To: a@example.com\r\nReply-To:",
    "To: a@example.com\r\nX-Empty:",
  ])("%j", (header) => {
    expect(read(header).recipients).toEqual(["a@example.com"]);
  });

  it("a body with lines like header fields, and with bare carriage returns", () => {
    const message = Buffer.from("To: a@example.com\n\nBcc: v@example.com\rTo: x@example.com\n\n.\n");
    expect(readEnvelope({ sender: null, message }).recipients).toEqual(["a@example.com"]);
  });

  it("a message without a body", () => {
    expect(readEnvelope({ sender: null, message: Buffer.from("To: a@example.com\r\n") }).recipients).toEqual([
      "a@example.com",
    ]);
  });
});
