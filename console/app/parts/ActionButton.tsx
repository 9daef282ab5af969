/** A button that can be disabled for a reason, which it shows and which screen readers read. */
import { Button, type ButtonProps, Tooltip, VisuallyHidden } from "@mantine/core";
import { useId } from "react";

interface ActionButtonProps extends ButtonProps {
  readonly type?: "button" | "submit";
  readonly onClick?: () => void;
  /** Why it can't be used now. Null: it can. */
  readonly reason?: string | null;
  readonly "aria-label"?: string;
}

export function ActionButton({ reason = null, onClick, children, type = "button", ...rest }: ActionButtonProps) {
  const id = useId();
  if (reason === null) {
    return (
      <Button type={type} onClick={onClick} {...rest}>
        {children}
      </Button>
    );
  }
  // It stays focusable, so that the reason can be reached with the keyboard.
  return (
    <>
      <Tooltip label={reason} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
        <Button
          type="button"
          {...rest}
          data-disabled
          aria-disabled="true"
          aria-describedby={id}
          onClick={(event) => event.preventDefault()}
        >
          {children}
        </Button>
      </Tooltip>
      <VisuallyHidden id={id}>{reason}</VisuallyHidden>
    </>
  );
}
