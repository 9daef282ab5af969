<?php
namespace WP_MySQL_Layer;

use RuntimeException;

/**
 * Functions about regular expressions. Both MySQL's library and PHP's understand Perl's syntax.
 * https://dev.mysql.com/doc/refman/8.0/en/regexp.html
 */
final class Expression_Functions extends Function_Set {
	/** The last pattern that was found to be one. */
	private string $last_compiled = '';

	public function regexp_like( $text, $pattern, $flags = '' ): ?int {
		return preg_match( $this->compiled( $pattern, $flags, (string) $text ), (string) $text );
	}

	public function regexp_substr( $text, $pattern, $start = 1, $occurrence = 1, $flags = '' ): ?string {
		$found = $this->matches( (string) $text, $pattern, $start, $flags )[ max( 1, Number::integer( $occurrence ) ) - 1 ] ?? null;
		return null === $found ? '' : $found[0];
	}

	public function regexp_instr( $text, $pattern, $start = 1, $occurrence = 1, $after = 0, $flags = '' ): ?int {
		$found = $this->matches( (string) $text, $pattern, $start, $flags )[ max( 1, Number::integer( $occurrence ) ) - 1 ] ?? null;
		if ( null === $found ) {
			return 0;
		}
		$bytes = $found[1] + ( 0 === Number::integer( $after ) ? 0 : strlen( $found[0] ) );
		return mb_strlen( substr( (string) $text, 0, $bytes ) ) + 1;
	}

	/** Replaces all matches, or the one with a number. */
	public function regexp_replace( $text, $pattern, $new, $start = 1, $occurrence = 0, $flags = '' ): ?string {
		$text       = (string) $text;
		$new        = preg_replace( '/\$(\d)/', '\\\\$1', (string) $new );
		$offset     = strlen( mb_substr( $text, 0, max( 0, Number::integer( $start ) - 1 ) ) );
		$occurrence = Number::integer( $occurrence );
		$compiled   = $this->compiled( $pattern, $flags, $text );
		if ( 0 === $occurrence ) {
			return substr( $text, 0, $offset ) . preg_replace( $compiled, $new, substr( $text, $offset ) );
		}
		$found = $this->matches( $text, $pattern, $start, $flags )[ $occurrence - 1 ] ?? null;
		if ( null === $found ) {
			return $text;
		}
		return substr( $text, 0, $found[1] ) . preg_replace( $compiled, $new, substr( $text, $found[1] ), 1 );
	}

	/** @return array<array{0: string, 1: int}> Matched texts and their positions in bytes. */
	private function matches( string $text, $pattern, $start, $flags ): array {
		$offset = strlen( mb_substr( $text, 0, max( 0, Number::integer( $start ) - 1 ) ) );
		preg_match_all( $this->compiled( $pattern, $flags, $text ), $text, $found, PREG_OFFSET_CAPTURE, $offset );
		return $found[0] ?? [];
	}

	/**
	 * Returns the expression in PHP's form. Matching ignores case, unless the flags say `c`. Texts that are not UTF-8 are
	 * matched byte by byte.
	 *
	 * @throws RuntimeException If the pattern is no regular expression, as MySQL reports it.
	 */
	private function compiled( $pattern, $flags, string $text ): string {
		$is_text   = mb_check_encoding( $text, 'UTF-8' ) && mb_check_encoding( (string) $pattern, 'UTF-8' );
		$modifiers = ( $is_text ? 'u' : '' ) . ( 'c' === substr( (string) preg_replace( '/[^ci]/', '', (string) $flags ), -1 ) ? '' : 'i' );
		foreach ( [ 'm' => 'm', 'n' => 's' ] as $flag => $modifier ) {
			$modifiers .= str_contains( (string) $flags, $flag ) ? $modifier : '';
		}
		$compiled = '~' . str_replace( '~', '\~', (string) $pattern ) . "~$modifiers";
		if ( $compiled !== $this->last_compiled && false === @preg_match( $compiled, '' ) ) {
			throw new RuntimeException( "Illegal regular expression: '$pattern'" );
		}
		$this->last_compiled = $compiled;
		return $compiled;
	}
}
