<?php
namespace WP_MySQL_Layer;

/** Texts in character sets with one byte per letter. */
final class Charset_Functions extends Function_Set {
	/** Letters from 0x80 on, where MySQL's latin1 is not ISO 8859-1. The other bytes up to 0x9F are the signs with these numbers. */
	private const LATIN1 = [
		...[ '€' => 0x80, '‚' => 0x82, 'ƒ' => 0x83, '„' => 0x84, '…' => 0x85, '†' => 0x86, '‡' => 0x87, 'ˆ' => 0x88, '‰' => 0x89 ],
		...[ 'Š' => 0x8A, '‹' => 0x8B, 'Œ' => 0x8C, 'Ž' => 0x8E, '‘' => 0x91, '’' => 0x92, '“' => 0x93, '”' => 0x94, '•' => 0x95 ],
		...[ '–' => 0x96, '—' => 0x97, '˜' => 0x98, '™' => 0x99, 'š' => 0x9A, '›' => 0x9B, 'œ' => 0x9C, 'ž' => 0x9E, 'Ÿ' => 0x9F ],
	];

	/** The text with question marks for letters that the character set lacks. */
	public function mysql_in_charset( $text, $charset ): string {
		$letters = mb_str_split( (string) $text );
		return implode( '', array_map( static fn ( string $letter ) => null === self::byte( $letter, $charset ) ? '?' : $letter, $letters ) );
	}

	/** The text's bytes in a character set, read as UTF-8. */
	public function mysql_reread( $text, $charset ): string {
		$bytes = array_map( static fn ( string $letter ) => chr( self::byte( $letter, $charset ) ?? ord( '?' ) ), mb_str_split( (string) $text ) );
		return mb_scrub( implode( '', $bytes ) );
	}

	private static function byte( string $letter, string $charset ): ?int {
		$number = mb_ord( $letter );
		if ( 'ascii' === $charset || $number < 0x80 ) {
			return $number < 0x80 ? $number : null;
		}
		return self::LATIN1[ $letter ] ?? ( $number <= 0xFF && ! in_array( $number, self::LATIN1, true ) ? $number : null );
	}
}
