import { expect, test } from "vitest";
import { createPhpMessages } from "../pool/phpMessages.ts";
import type { OutgoingMail } from "../serving.ts";
import { receiveMessage } from "./receiveMessage.ts";

async function send(message: string) {
  const mails: OutgoingMail[] = [];
  const mail = async (one: OutgoingMail) => {
    mails.push(one);
    return null;
  };
  const answer = await receiveMessage(message, {
    token: "",
    messages: createPhpMessages(),
    mail,
    log: () => undefined,
  });
  return { answer, mails };
}

test("mail is what PHP has encoded", async () => {
  const text = "Subject: ?>?>?>\n\nText";
  // PHP's JSON has a backslash before each slash.
  const content = Buffer.from(text).toString("base64").replaceAll("/", "\\/");
  const { answer, mails } = await send(`{"sitewright":"mail","options":["-t"],"message":"${content}"}`);
  expect([answer, mails.map(({ message }) => message.toString())]).toEqual(["stored", [text]]);
});

test.each([
  `{"sitewright":"mail","options":[${'"-t",'.repeat(10_000)}"-t"],"message":"eA=="}`,
  '{"sitewright":"mail","options":"-t","message":"eA=="}',
  '{"sitewright":"mail","options":[{}],"message":"eA=="}',
  '{"sitewright":"mail"}',
  '{"sitewright":"mail","options":["-t","message":"eA=="}',
])("other messages are no mail", async (message) => {
  expect(await send(message)).toEqual({ answer: "", mails: [] });
});

test.each([
  ['token{"sitewright":"order"}', "the order"],
  ['{"sitewright":"order"}', ""],
  ['toke{"sitewright":"order"}', ""],
])("a message counts if it begins with the token: %s", async (message, answer) => {
  const messages = createPhpMessages();
  const ignored = () => undefined;
  messages.begin({ onStalePages: ignored, isPrivate: ignored, shows: ignored }, "the order");
  expect(await receiveMessage(message, { token: "token", messages, mail: undefined, log: ignored })).toBe(answer);
});
