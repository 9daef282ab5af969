<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/** `_utf8mb4'text'`, `_binary 'bytes'`, `_latin1 0xE4`, `N'text'`: literals with their character set, as in dumps. */
final class Introducers implements Rule {
	public function nodes(): array {
		return [ 'textLiteral', 'literal' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$national   = $node->get_first_child_token( WP_MySQL_Lexer::NCHAR_TEXT );
		$introducer = $node->get_first_child_token( WP_MySQL_Lexer::UNDERSCORE_CHARSET );
		if ( null === $introducer && null === $national ) {
			return null;
		}
		$set   = null === $introducer ? 'utf8mb4' : strtolower( substr( $introducer->get_value(), 1 ) );
		$value = self::value_of( $node );
		if ( 'latin1' === $set ) {
			$value = mb_convert_encoding( $value, 'UTF-8', 'Windows-1252' );
		}
		$literal = "x'" . bin2hex( $value ) . "'";
		return $rewriting->sequence( [ 'binary' === $set ? $literal : "CAST($literal AS TEXT)" ], $node );
	}

	/** Returns the bytes of a literal. Adjacent texts are one. */
	private static function value_of( WP_Parser_Node $node ): string {
		$value = '';
		foreach ( $node->get_descendant_tokens() as $token ) {
			if ( WP_MySQL_Lexer::UNDERSCORE_CHARSET !== $token->id ) {
				$value .= self::bytes_of( $token );
			}
		}
		return $value;
	}

	private static function bytes_of( WP_MySQL_Token $token ): string {
		$text = $token->get_value();
		switch ( $token->id ) {
			case WP_MySQL_Lexer::HEX_NUMBER:
				$digits = '0' === $text[0] ? substr( $text, 2 ) : substr( $text, 2, -1 );
				return hex2bin( strlen( $digits ) % 2 ? "0$digits" : $digits );
			case WP_MySQL_Lexer::BIN_NUMBER:
				$digits = '0' === $text[0] ? substr( $text, 2 ) : substr( $text, 2, -1 );
				$digits = str_pad( $digits, (int) ceil( strlen( $digits ) / 8 ) * 8, '0', STR_PAD_LEFT );
				return implode( '', array_map( static fn ( string $byte ) => chr( bindec( $byte ) ), str_split( $digits, 8 ) ) );
			case WP_MySQL_Lexer::NCHAR_TEXT:
				// The same text without the letter.
				$quoted = new WP_MySQL_Token( WP_MySQL_Lexer::SINGLE_QUOTED_TEXT, 0, strlen( $text ) - 1, substr( $text, 1 ), false );
				return $quoted->get_value();
			default:
				return $text;
		}
	}
}
