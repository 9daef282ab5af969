import { describe, expect, it } from "vitest";
import { isLocal, parseSmtpUrl } from "./smtpUrl.ts";

describe("the URL of a mail server", () => {
  it.each([
    ["smtp://mail.example.com", { host: "mail.example.com", port: 587, isSecure: false, login: null }],
    ["smtps://mail.example.com/", { host: "mail.example.com", port: 465, isSecure: true, login: null }],
    ["smtp://[::1]:2500", { host: "::1", port: 2500, isSecure: false, login: null }],
    [
      "smtp://ada%40example.com:a%3Ab@mail.example.com:25",
      { port: 25, login: { user: "ada@example.com", password: "a:b" } },
    ],
  ])("can be %s", (text, place) => {
    expect(parseSmtpUrl(text)).toMatchObject(place);
  });

  it.each([
    "mail.example.com:25",
    "http://mail.example.com",
    "smtp://",
    "smtp://ada@mail.example.com",
    "smtp://:geheim@mail.example.com",
    "smtp://ada:geheim@mail.example.com/path",
    "smtp://ada:geheim@mail.example.com?tls=no",
    "smtp://ada:ge#heim@mail.example.com",
    "smtp://ada:geheim%@mail.example.com",
    "smtp://mail.example.com:99999",
  ])("can't be %s; the error does not contain the password", (text) => {
    expect(() => parseSmtpUrl(text)).toThrow(
      expect.objectContaining({ name: "SmtpUrlError", message: expect.not.stringContaining("geheim") }),
    );
  });

  it("is local or remote", () => {
    const local = (text: string) => isLocal(parseSmtpUrl(text));
    expect(["smtp://localhost", "smtp://127.0.0.1:25", "smtp://[::1]"].map(local)).toEqual([true, true, true]);
    expect(["smtp://mail.example.com", "smtp://10.0.0.1"].map(local)).toEqual([false, false]);
  });
});
