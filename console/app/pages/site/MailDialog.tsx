import { Code, Modal, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import { sizeText } from "../../formats.ts";
import { Loaded } from "../../parts/Failure.tsx";
import { texts } from "../../texts.ts";

const at = texts.mail;

interface MailDialogProps {
  readonly environmentId: string;
  readonly mail: Schemas["Mail"];
  readonly close: () => void;
}

/** A message as text. Its HTML is not shown: it could load pictures that tell its sender who reads it. */
export function MailDialog({ environmentId, mail, close }: MailDialogProps) {
  const whole = useQuery({
    queryKey: ["sites", "mail", environmentId, mail.id],
    queryFn: async ({ signal }) => {
      const params = { path: { env_id: environmentId, mail_id: mail.id } };
      return (await answerOf(api.GET("/sites/environments/{env_id}/mails/{mail_id}", { params, signal }))).mail;
    },
  });
  const title = mail.subject === "" ? at.noSubject : mail.subject;
  return (
    <Modal opened onClose={close} title={title} size="lg" closeButtonProps={{ "aria-label": texts.close }}>
      <Stack>
        <Text size="sm">
          {at.from}: {mail.from}
          <br />
          {at.recipients}: {mail.recipients.join(", ")}
        </Text>
        <Loaded query={whole}>
          {({ text, attachments, is_shortened: isShortened }) => (
            <>
              {text === null ? (
                <Text>{at.noText}</Text>
              ) : (
                <Code block tabIndex={0} style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
                  {text}
                </Code>
              )}
              {isShortened && <Text size="sm">{at.shortened}</Text>}
              {attachments.length > 0 && (
                <Text size="sm">
                  {at.attachments}:{" "}
                  {attachments
                    .map(({ name, type, size_bytes: bytes }) => `${name ?? type}, ${sizeText(bytes)}`)
                    .join("; ")}
                </Text>
              )}
            </>
          )}
        </Loaded>
      </Stack>
    </Modal>
  );
}
