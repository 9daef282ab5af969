/** The frame of a page: its title, which is announced and focused when the page opens, and its buttons. */
import { Group, Stack, Title } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import { texts } from "../texts.ts";

interface PageProps {
  readonly title: string;
  /** Beside the title. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** False until the first page has opened: there, the browser's own focus is right. */
let hasOpened = false;

export function Page({ title, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} – ${texts.product}`;
    if (hasOpened) heading.current?.focus();
    hasOpened = true;
  }, [title]);
  return (
    <Stack gap="lg">
      <Group justify="space-between" gap="sm">
        <Title order={1} size="h2" ref={heading} tabIndex={-1} style={{ outline: "none", overflowWrap: "anywhere" }}>
          {title}
        </Title>
        {actions !== undefined && <Group gap="sm">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
