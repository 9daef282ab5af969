import { Alert, Button, Code, CopyButton, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { texts } from "../texts.ts";

const at = texts.secondFactor;

/** New recovery codes, which can't be shown again. */
export function RecoveryCodes({ codes, done }: { readonly codes: readonly string[]; readonly done: () => void }) {
  return (
    <Alert role="status" title={at.recoveryCodes}>
      <Stack>
        <Text size="sm">{at.recoveryHint}</Text>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
          {codes.map((code) => (
            <Code key={code} fz="sm">
              {code}
            </Code>
          ))}
        </SimpleGrid>
        <Group>
          <CopyButton value={codes.join("\n")}>
            {({ copied, copy }) => (
              <Button variant="default" onClick={copy}>
                {copied ? texts.copied : at.copyCodes}
              </Button>
            )}
          </CopyButton>
          <Button onClick={done}>{at.saved}</Button>
        </Group>
      </Stack>
    </Alert>
  );
}
