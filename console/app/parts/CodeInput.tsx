import { TextInput, type TextInputProps } from "@mantine/core";
import { useEffect, useRef } from "react";

/** A field for a code of a second factor, which gets the focus when it appears. */
export function CodeInput(props: TextInputProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  return <TextInput ref={input} autoComplete="one-time-code" spellCheck={false} {...props} />;
}
