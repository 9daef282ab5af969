<?php
namespace WP_MySQL_Layer;

/**
 * Letters as the collation utf8mb4_unicode_520_ci compares them: without case and accents.
 * https://www.unicode.org/reports/tr10/
 */
final class Letters {
	/** Marks that are written over or under a letter. */
	private const MARKS = '/[\x{300}-\x{36f}\x{483}-\x{487}\x{591}-\x{5bd}\x{64b}-\x{65f}]+/u';

	/** Bytes. */
	private const SHORT = 200;

	/** @var array<string, string>|null */
	private static ?array $folded = null;
	/** @var array<string, string>|null Opening the file for each letter of a pattern takes a while. */
	private static ?array $groups = null;
	/** @var array<string, string> Expressions for patterns of LIKE. */
	private static array $patterns = [];

	public static function beyond_ascii( string $text ): bool {
		return 1 === preg_match( '/[\x80-\xff]/', $text );
	}

	public static function has_letter( string $text ): bool {
		return 1 === preg_match( '/[a-z\x80-\xff]/i', $text );
	}

	/** Returns the same text for all texts that are equal. */
	public static function fold( string $text ): string {
		$text = strtolower( $text );
		if ( ! self::beyond_ascii( $text ) ) {
			return $text;
		}
		$plain = preg_replace( self::MARKS, '', $text );
		// What is no valid UTF-8 is equal only to itself.
		return null === $plain ? $text : self::mapped( mb_convert_case( $plain, MB_CASE_LOWER_SIMPLE ) );
	}

	private static function mapped( string $text ): string {
		$map = self::map();
		if ( strlen( $text ) > self::SHORT ) {
			return strtr( $text, $map );
		}
		// strtr() looks at the whole map first, which takes longer than a short text.
		$mapped = '';
		foreach ( mb_str_split( $text ) as $letter ) {
			$mapped .= $map[ $letter ] ?? $letter;
		}
		return $mapped;
	}

	/** Compares two texts without regard to case and accents. Returns -1, 0 or 1. */
	public static function compare( string $a, string $b ): int {
		return strcmp( self::fold( $a ), self::fold( $b ) ) <=> 0;
	}

	/** Whether a text matches a pattern of LIKE. */
	public static function matches( string $text, string $pattern, string $escape ): bool {
		$key                      = "$escape\0$pattern";
		self::$patterns[ $key ] ??= self::expression( $pattern, $escape );
		$result                   = preg_match( self::$patterns[ $key ], $text );
		// If it is no valid UTF-8, without the bytes that are none.
		return 1 === ( false === $result ? preg_match( self::$patterns[ $key ], mb_scrub( $text ) ) : $result );
	}

	/** Returns a regular expression that finds what matches a pattern. */
	private static function expression( string $pattern, string $escape ): string {
		$parts      = [];
		$characters = mb_str_split( $pattern );
		for ( $i = 0, $count = count( $characters ); $i < $count; ++$i ) {
			$character = $characters[ $i ];
			if ( $character === $escape && $i + 1 < $count ) {
				++$i;
				$parts[] = self::any_form( $characters[ $i ] );
			} elseif ( '%' !== $character ) {
				$parts[] = '_' === $character ? '.' : self::any_form( $character );
			} elseif ( '.*' !== end( $parts ) ) {
				$parts[] = '.*';
			}
		}
		// A search for the text between takes less time than `.*` on both sides.
		$start = '.*' === ( $parts[0] ?? '' ) ? array_shift( $parts ) : null;
		$end   = '.*' === end( $parts ) ? array_pop( $parts ) : null;
		return '/' . ( null === $start ? '^' : '' ) . implode( '', $parts ) . ( null === $end && ! ( null !== $start && [] === $parts ) ? '\z' : '' ) . '/ius';
	}

	/** Returns an expression for a letter in all forms that are equal to it. */
	private static function any_form( string $character ): string {
		$folded = self::fold( $character );
		if ( 1 !== mb_strlen( $folded ) ) {
			return preg_quote( $character, '/' );
		}
		$others = self::groups()[ $folded ] ?? '';
		$class  = '' === $others ? preg_quote( $folded, '/' ) : "[$folded$others]";
		return $class . ( 1 === preg_match( '/\pL/u', $folded ) ? '[\x{300}-\x{36f}]*+' : '' );
	}

	private static function map(): array {
		if ( null === self::$folded ) {
			self::$folded = [];
			foreach ( self::groups() as $folded => $forms ) {
				foreach ( mb_str_split( $forms ) as $form ) {
					self::$folded[ $form ] = (string) $folded;
				}
			}
		}
		return self::$folded;
	}

	/** All letters and digits beyond ASCII that are equal to others, by these. @return array<string, string> */
	private static function groups(): array {
		return self::$groups ??= require __DIR__ . '/letterGroups.php';
	}
}
