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

  it("may be a hundred, whatever the length of the line", () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, at) => `recipient-number-${at}@example.com`).join(", ");
    expect(read(`To: ${many(100)}`).recipients).toHaveLength(100);
    expect(() => read(`To: ${many(60)}\r\nBcc: x@example.com, ${many(100)}`)).toThrow(
      "it has more than 100 recipients",
    );
  });
});

describe("the sender", () => {
  it("is what -f says, then the field Sender, then From, then nobody", () => {
    const header = "To: a@example.com\r\nFrom: Shop <shop@example.com>";
    expect(read(header, "bounce@example.com").sender).toBe("bounce@example.com");
    expect(read(`${header}\r\nSender: office@example.com`).sender).toBe("office@example.com");
    expect(read(header).sender).toBe("shop@example.com");
    expect(read("To: a@example.com").sender).toBeNull();
    expect(() => read(header, "bounce@-example-.com")).toThrow("no address");
  });
});

describe("what looks like an injection is refused", () => {
  const to = "To: a@example.com";

  it.each([
    ["a second field To", `${to}\r\nTo: v@example.com`, "its header has the field to twice"],
    ["a second Bcc in other letters", `${to}\r\nBcc: b@example.com\r\nbCC : v@example.com`, "the field bcc twice"],
    ["a second Subject", `${to}\nSubject: a\nSubject: b`, "the field subject twice"],
    ["a second From", `${to}\r\nFrom: a@example.com\r\nFrom: b@example.com`, "the field from twice"],
    ["a second Content-Type", `${to}\r\nContent-Type: text/plain\r\nContent-Type: text/html`, "content-type twice"],
    ["a carriage return alone", `${to}\r\nSubject: a\rBcc: v@example.com`, "a carriage return"],
    ["a NUL", `${to}\r\nSubject: a\0b`, "a NUL"],
    ["a line that is no field", `${to}\r\nSubject: a\r\nHello there`, "a line that is no field"],
    ["a field without a name", `${to}\r\n: v@example.com`, "a line that is no field"],
    ["a first line that goes on", ` To: a@example.com`, "a line that is no field"],
    ["a line that is too long", `${to}\r\nSubject: ${"x".repeat(1_000)}`, "longer than 998"],
    ["a header that is too large", `${to}\r\n${"X-A: b\r\n".repeat(50_000)}X: y`, "larger than 256 KB"],
    ["no header", "", "no recipient"],
    ["no recipient", "Subject: a", "no recipient"],
    ["only an empty group", "To: nobody:;", "no recipient"],
    ["a name without an address", "To: Ada", "no address"],
    ["nothing between brackets", "To: Ada <>", "no address"],
    ["two addresses with a space between them", "To: a@example.com v@example.com", "no address"],
    ["what was a line once", "To: a@example.com Bcc: v@example.com", "no address"],
    ["a space in an address", 'To: "a b"@example.com', "no address"],
    ["an address with a bracket", "To: a@example.com>\r\n", "no address"],
    ["a line break within an address", "To: a@exam\r\n ple.com", "no address"],
    ["a domain that is none", "To: a@-example.com", "no address"],
    ["a domain with a space", "To: a@exam ple.com", "no address"],
    ["a number as a domain", "To: a@[127.0.0.1]", "no address"],
    ["an address without a domain", "To: root", "no address"],
    ["dots that don't belong there", "To: .a..b@example.com", "no address"],
    ["a Reply-To with more than an address", `${to}\r\nReply-To: x@example.com Bcc: v@example.com`, "no address"],
    ["a From that is no address", `${to}\r\nFrom: a@b c`, "no address"],
  ])("%s", (_, header, message) => {
    expect(() => read(header)).toThrow(message);
  });

  it("without a word of the message", () => {
    for (const header of ["To: secret@exa mple.com", "To: a@example.com\r\nsecret", "X: secret"]) {
      expect(() => read(header)).toThrow(expect.objectContaining({ message: expect.not.stringContaining("secret") }));
    }
  });
});

describe("what is no injection is taken", () => {
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

  it("a content that looks like a header, and one with bare carriage returns", () => {
    const message = Buffer.from("To: a@example.com\n\nBcc: v@example.com\rTo: x@example.com\n\n.\n");
    expect(readEnvelope({ sender: null, message }).recipients).toEqual(["a@example.com"]);
  });

  it("a message that is only a header", () => {
    expect(readEnvelope({ sender: null, message: Buffer.from("To: a@example.com\r\n") }).recipients).toEqual([
      "a@example.com",
    ]);
  });
});
