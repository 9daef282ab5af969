/** Shows a form's request as a curl command. */
import { Button, Code, CopyButton, Group, Modal, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { texts } from "../texts.ts";

interface CurlButtonProps {
  readonly method: "POST" | "PUT" | "DELETE";
  /** Below `/v2`. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Fields that are not shown. */
const secret = /password|key$/;

function commandOf({ method, path, body }: CurlButtonProps): string {
  return [
    `curl -X ${method} '${window.location.origin}/v2${path}'`,
    `-H "Authorization: Bearer $SITEWRIGHT_KEY"`,
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d '${shown(body)}'`]),
  ].join(" \\\n  ");
}

function shown(body: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(body).map(([name, value]) => [name, secret.test(name) ? "…" : value]);
  return JSON.stringify(Object.fromEntries(entries), null, 2).replaceAll("'", "'\\''");
}

export function CurlButton(props: CurlButtonProps) {
  const [isOpen, { open, close }] = useDisclosure();
  const command = isOpen ? commandOf(props) : "";
  return (
    <>
      <Button variant="subtle" onClick={open}>
        {texts.showCurl}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={texts.showCurl}
        size="lg"
        closeButtonProps={{ "aria-label": texts.close }}
      >
        <Stack>
          <Text size="sm">{texts.curlHint}</Text>
          <Code block tabIndex={0} style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
            {command}
          </Code>
          <Group justify="end">
            <CopyButton value={command}>
              {({ copied, copy }) => <Button onClick={copy}>{copied ? texts.copied : texts.copy}</Button>}
            </CopyButton>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
