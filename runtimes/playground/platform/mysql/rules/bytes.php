<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/** LENGTH, which counts bytes, and literals of bits and bytes, which are numbers or texts as the place needs it. */
final class Bytes implements Rule {
	public function nodes(): array {
		return [ 'functionCall', 'literal' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		return 'literal' === $node->rule_name ? $this->literal( $node, $rewriting ) : $this->length( $node, $rewriting );
	}

	private function length( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		[ $name, $arguments ] = $node->get_child_nodes() + [ null, null ];
		if ( 'length' !== strtolower( $name->get_first_descendant_token()->get_value() ) || null === $arguments ) {
			return null;
		}
		return $rewriting->sequence( [ 'octet_length(', $arguments, ')' ], $node );
	}

	private function literal( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$literal = $node->get_first_child();
		if ( 1 !== count( $node->get_children() ) || ! $literal instanceof WP_MySQL_Token ) {
			return null;
		}
		$text   = $literal->get_value();
		$digits = '0' === $text[0] ? substr( $text, 2 ) : substr( $text, 2, -1 );
		if ( Lexer::BIN_NUMBER === $literal->id ) {
			// For columns of bits, and sums.
			return strlen( ltrim( $digits, '0' ) ) < 64 ? $rewriting->sequence( [ (string) bindec( $digits ) ], $node ) : null;
		}
		if ( Lexer::HEX_NUMBER !== $literal->id ) {
			return null;
		}
		$digits = strlen( $digits ) % 2 ? "0$digits" : $digits;
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
