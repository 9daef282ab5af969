import { Button, Code, CopyButton, Group } from "@mantine/core";
import { texts } from "../texts.ts";

/** An id or a token, with a button that copies it. */
export function CopyId({ value, name }: { readonly value: string; readonly name: string }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <Code style={{ overflowWrap: "anywhere" }}>{value}</Code>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Button
            size="compact-xs"
            variant="default"
            style={{ flexShrink: 0 }}
            onClick={copy}
            aria-label={`${texts.copy}: ${name}`}
          >
            {copied ? texts.copied : texts.copy}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}
