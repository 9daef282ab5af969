import { expect, test } from "vitest";
import { mailOf } from "./sendmail.ts";

const message = Buffer.from("Subject: x");

test.each([
  [["-t", "-i"], null],
  [["-t", "-fme@example.com"], "me@example.com"],
  [["-f", "me@example.com", "-oi", ""], "me@example.com"],
])("the sender in %j is %s", (options, sender) => {
  expect(mailOf(options, message)).toEqual({ sender, message });
});

test.each([[["-C/etc/passwd"]], [["-f"]], [["-f", "me"]], [Array<string>(100_000).fill("-t")]])(
  "other options are refused, and very many",
  (options) => {
    expect(mailOf(options, message)).toMatch(/may only be -f with an address/);
  },
);
