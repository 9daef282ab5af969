import { describe, expect, it } from "vitest";
import { makeOutgoing } from "./outgoing.ts";

const facts = {
  id: "0b0f3a52-6d2c-4b57-9a3a-7a5a4a0a2a53",
  environmentId: "54fb80af-576c-4fdc-ba4f-b596c83f15a1",
  host: "demo.localhost",
  createdAt: new Date("2026-11-22T20:00:00Z"),
};

const make = (message: string) => makeOutgoing({ ...facts, message: Buffer.from(message) }).toString();

describe("an outgoing message", () => {
  it("has a date, a sender and an id, the same at each attempt, and names its environment", () => {
    const message = make("To: ada@example.com\nSubject: Hello\n\nOne\nTwo\n");
    expect(message).toBe(
      [
        "Date: Sun, 22 Nov 2026 20:00:00 +0000",
        "From: wordpress@demo.localhost",
        `Message-ID: <${facts.id}@demo.localhost>`,
        "To: ada@example.com",
        "Subject: Hello",
        `X-Sitewright-Environment: ${facts.environmentId}`,
        "",
        "One",
        "Two",
        "",
      ].join("\r\n"),
    );
    expect(make("To: ada@example.com\nSubject: Hello\n\nOne\nTwo\n")).toBe(message);
  });

  it("keeps the site's own fields", () => {
    const own = "message-id: <1@example.com>\r\nDATE: Mon, 1 Jan 2024 00:00:00 +0000\r\nFrom: Shop <shop@example.com>";
    const message = make(`${own}\r\nTo: ada@example.com\r\n\r\nText`);
    expect(message).toBe(
      `${own}\r\nTo: ada@example.com\r\nX-Sitewright-Environment: ${facts.environmentId}\r\n\r\nText`,
    );
  });

  it("does not reveal Bcc, and does not let a site claim to be another one", () => {
    const message = make(
      "To: ada@example.com\nBcc: eve@example.com,\n bob@example.com\nX-sitewright-environment: other\nReturn-Path: <x@example.com>\n\nText",
    );
    expect(message).not.toMatch(/eve|bob|other|x@example/);
    expect(message.match(/X-Sitewright-Environment/gi)).toHaveLength(1);
  });

  it("has CRLF line ends only, and every byte of its body", () => {
    expect(make("To: a@example.com\n\na\nb\r\nc\rd\n\r\n").split("\r\n\r\n").slice(1).join("|")).toBe(
      "a\r\nb\r\nc\r\nd|",
    );
    const bytes = Buffer.concat([Buffer.from("To: a@example.com\r\n\r\n"), Buffer.from([0xff, 0x00, 0xc3, 0xbc])]);
    expect(makeOutgoing({ ...facts, message: bytes }).subarray(-4)).toEqual(Buffer.from([0xff, 0x00, 0xc3, 0xbc]));
  });

  it("folds a long list of recipients, but not within a name", () => {
    const many = Array.from({ length: 80 }, (_, at) => `"Doe, Number ${at}" <recipient-${at}@example.com>`).join(", ");
    const lines = make(`To: ${many}\r\n\r\nText`).split("\r\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(100);
    const from = lines.findIndex((line) => line.startsWith("To:"));
    const unfolded = lines.slice(from, from + 80).join("");
    expect(unfolded.replaceAll(/,\s+/g, ", ")).toBe(`To: ${many}`);
  });
});
