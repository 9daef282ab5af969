<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/**
 * Literals that SQLite has no form for: bits and bytes, which are numbers or texts as the place needs it; `_utf8mb4'text'`,
 * `_binary 'bytes'`, `_latin1 0xE4` and `N'text'`, as in dumps; `DATE '2024-01-31'` and `{d '2024-01-31'}`.
 */
final class Literals implements Rule {
	/** What stands before the text of a literal. */
	private const PREFIXES = [ Lexer::UNDERSCORE_CHARSET, Lexer::DATE_SYMBOL, Lexer::TIME_SYMBOL, Lexer::TIMESTAMP_SYMBOL ];

	public function nodes(): array {
		return [ 'textLiteral', 'literal', 'temporalLiteral', 'simpleExprBody' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		switch ( $node->rule_name ) {
			case 'temporalLiteral':
				return $rewriting->sequence( [ $node->get_first_child_node() ], $node );
			case 'simpleExprBody':
				$is_braced = Lexer::OPEN_CURLY_SYMBOL === ( $node->get_first_child()->id ?? null );
				return $is_braced ? $rewriting->sequence( [ $node->get_first_child_node( 'expr' ) ], $node ) : null;
			default:
				return $this->with_set( $node, $rewriting ) ?? $this->bits_or_bytes( $node, $rewriting );
		}
	}

	/** A literal with its character set. */
	private function with_set( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$national   = $node->get_first_child_token( Lexer::NCHAR_TEXT );
		$introducer = $node->get_first_child_token( Lexer::UNDERSCORE_CHARSET );
		if ( null === $introducer && null === $national ) {
			return null;
		}
		$set   = null === $introducer ? 'utf8mb4' : strtolower( substr( $introducer->get_value(), 1 ) );
		$value = '';
		// Adjacent texts are one.
		foreach ( $node->get_descendant_tokens() as $token ) {
			$value .= Lexer::UNDERSCORE_CHARSET === $token->id ? '' : self::bytes_of( $token );
		}
		if ( 'latin1' === $set ) {
			$value = mb_convert_encoding( $value, 'UTF-8', 'Windows-1252' );
		}
		$literal = "x'" . bin2hex( $value ) . "'";
		return $rewriting->sequence( [ 'binary' === $set ? $literal : "CAST($literal AS TEXT)" ], $node );
	}

	/** The bytes of a literal of bits, `b'101'`; null if it is another one. */
	public static function bits( WP_Parser_Node $literal ): ?string {
		$tokens = $literal->get_descendant_tokens();
		return 1 === count( $tokens ) && Lexer::BIN_NUMBER === $tokens[0]->id ? self::bytes_of( $tokens[0] ) : null;
	}

	/** The value of a literal, with or without a sign, as the record has it for the default of a column of a type; null for NULL. */
	public static function as_default( WP_Parser_Node $literal, string $type ): ?string {
		$tokens = array_filter( $literal->get_descendant_tokens(), static fn ( $token ) => ! in_array( $token->id, self::PREFIXES, true ) );
		$value  = implode( '', array_map( [ self::class, 'bytes_of' ], $tokens ) );
		switch ( end( $tokens )->id ) {
			case Lexer::NULL_SYMBOL:
				return null;
			case Lexer::TRUE_SYMBOL:
				$value = '1';
				break;
			case Lexer::FALSE_SYMBOL:
				$value = '0';
				break;
			case Lexer::HEX_NUMBER:
			case Lexer::BIN_NUMBER:
				$value = self::bytes_as_default( $value, $type );
		}
		if ( 'bit' === $type && ( '' === $value || ctype_digit( $value ) ) ) {
			return "b'" . decbin( (int) $value ) . "'";
		}
		$time = Columns::time_of( $type );
		return ( 0 === $time ? null : Date_Forms::of( $value, $time ) ) ?? $value;
	}

	private static function bytes_as_default( string $bytes, string $type ): string {
		if ( 'bit' === $type || '0' === Field_Definition::implicit_value_of( $type ) ) {
			return (string) hexdec( bin2hex( $bytes ) );
		}
		return Columns::has_bytes( $type ) ? '0x' . bin2hex( $bytes ) : $bytes;
	}

	private static function bytes_of( WP_MySQL_Token $token ): string {
		$text = $token->get_value();
		switch ( $token->id ) {
			case Lexer::HEX_NUMBER:
				return hex2bin( self::digits_of( $token, 2 ) );
			case Lexer::BIN_NUMBER:
				return implode( '', array_map( static fn ( string $byte ) => chr( bindec( $byte ) ), str_split( self::digits_of( $token, 8 ), 8 ) ) );
			case Lexer::NCHAR_TEXT:
				// The same text without the letter.
				return ( new WP_MySQL_Token( Lexer::SINGLE_QUOTED_TEXT, 0, strlen( $text ) - 1, substr( $text, 1 ), false ) )->get_value();
			default:
				return $text;
		}
	}

	/** The digits of `0x41`, `x'41'` and their like, as many as whole bytes have. */
	private static function digits_of( WP_MySQL_Token $token, int $digits_of_byte ): string {
		$text   = $token->get_value();
		$digits = '0' === $text[0] ? substr( $text, 2 ) : substr( $text, 2, -1 );
		return str_pad( $digits, (int) ceil( strlen( $digits ) / $digits_of_byte ) * $digits_of_byte, '0', STR_PAD_LEFT );
	}

	private function bits_or_bytes( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$literal = $node->get_first_child();
		if ( 1 !== count( $node->get_children() ) || ! $literal instanceof WP_MySQL_Token ) {
			return null;
		}
		if ( Lexer::BIN_NUMBER === $literal->id ) {
			// For columns of bits, and sums.
			$digits = ltrim( self::digits_of( $literal, 8 ), '0' );
			return strlen( $digits ) < 64 ? $rewriting->sequence( [ (string) bindec( $digits ) ], $node ) : null;
		}
		if ( Lexer::HEX_NUMBER !== $literal->id ) {
			return null;
		}
		$digits = self::digits_of( $literal, 2 );
		if ( $this->is_number_wanted( $rewriting ) && strlen( ltrim( $digits, '0' ) ) < 16 ) {
			return $rewriting->sequence( [ (string) hexdec( $digits ) ], $node );
		}
		$is_text = 1 === preg_match( '//u', (string) hex2bin( $digits ) );
		return $rewriting->sequence( [ $is_text ? "CAST(x'$digits' AS TEXT)" : "x'$digits'" ], $node );
	}

	/** Whether the place is an operand of arithmetic. */
	private function is_number_wanted( Rewriting $rewriting ): bool {
		for ( $i = count( $rewriting->above ) - 1; $i >= 0; --$i ) {
			$node = $rewriting->above[ $i ];
			if ( 'bitExpr' === $node->rule_name && count( $node->get_children() ) > 1 ) {
				return true;
			}
			if ( ! in_array( $node->rule_name, [ 'literal', 'simpleExprBody', 'simpleExpr', 'bitExpr' ], true ) ) {
				return false;
			}
		}
		return false;
	}
}
