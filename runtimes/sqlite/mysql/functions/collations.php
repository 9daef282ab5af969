<?php
namespace WP_MySQL_Layer;

/** Texts with letters beyond ASCII. */
final class Collation_Functions extends Function_Set {
	public const WITH_NULL = [ 'mysql_fold' ];

	/** The last text and its form: a condition may compare the same text with many others. */
	private string $last   = '';
	private string $folded = '';

	/** The same text for all texts that are equal; other values stay as they are. */
	public function mysql_fold( $text ) {
		if ( ! is_string( $text ) ) {
			return $text;
		}
		if ( $text !== $this->last ) {
			$this->folded = Letters::fold( $text );
			$this->last   = $text;
		}
		return $this->folded;
	}

	public function mysql_like( $text, $pattern, $escape ): ?int {
		return (int) Letters::matches( (string) $text, (string) $pattern, (string) $escape );
	}

	/** The pattern of GLOB, which knows case, for a pattern of LIKE. Without $escape, no character escapes others. */
	public function mysql_glob_pattern( $pattern, $escape ): string {
		$escaped = '' === (string) $escape ? '' : preg_quote( (string) $escape, '/' ) . '(.)|';
		$signs   = [ '*' => '[*]', '?' => '[?]', '[' => '[[]' ];
		return preg_replace_callback(
			"/{$escaped}[%_*?[]/s",
			static fn ( array $found ) => isset( $found[1] ) ? $signs[ $found[1] ] ?? $found[1] : ( $signs + [ '%' => '*', '_' => '?' ] )[ $found[0] ],
			(string) $pattern
		);
	}
}
