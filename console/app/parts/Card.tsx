/** A framed part of a page, with its heading. */
import { Paper, Stack, Title } from "@mantine/core";
import type { ReactNode } from "react";

interface CardProps {
  readonly title: string;
  /** Pixels. Default: as wide as there is room. */
  readonly maxWidth?: number;
  readonly children: ReactNode;
}

export function Card({ title, maxWidth, children }: CardProps) {
  return (
    <Paper withBorder p="lg" component="section" aria-label={title} {...(maxWidth !== undefined && { maw: maxWidth })}>
      <Stack>
        <Title order={2} size="h4">
          {title}
        </Title>
        {children}
      </Stack>
    </Paper>
  );
}
