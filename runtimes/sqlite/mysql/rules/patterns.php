<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/** LIKE without regard to case and accents, and with ESCAPE. */
final class Patterns implements Rule {
	public function nodes(): array {
		return [ 'predicate' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$operations = $node->get_first_child_node( 'predicateOperations' );
		$keyword    = $operations?->get_first_child();
		if ( ! $keyword instanceof WP_MySQL_Token || Lexer::LIKE_SYMBOL !== $keyword->id ) {
			return null;
		}
		$left     = $node->get_first_child_node();
		$operands = $operations->get_child_nodes( 'simpleExpr' );
		$pattern  = $operands[0];
		$escape   = $operands[1] ?? ( $rewriting->driver->is_sql_mode_active( 'NO_BACKSLASH_ESCAPES' ) ? null : "'\\'" );
		$like     = [ $left, 'LIKE', $pattern, ...( null === $escape ? [] : [ 'ESCAPE', $escape ] ) ];
		if ( $this->knows_case( [ $left, $pattern ], $rewriting ) ) {
			return $this->condition( [ $left, 'GLOB', $rewriting->call( 'mysql_glob_pattern', [ $pattern, $escape ?? "''" ], $node ) ], $node, $rewriting );
		}
		if ( ! $this->needs_letters( $left, $pattern, $rewriting ) ) {
			return isset( $operands[1] ) ? $this->condition( $like, $node, $rewriting ) : null;
		}
		$matches = $rewriting->call( 'mysql_like', [ $left, $pattern, $escape ?? "''" ], $node );
		if ( null === $rewriting->kinds->column( $left ) ) {
			return $this->condition( [ $matches ], $node, $rewriting );
		}
		// Texts of ASCII letters only can match a pattern with others.
		$like[2] = $rewriting->call( 'mysql_fold', [ $pattern ], $pattern );
		return $this->condition( [ '(', ...$like, 'OR (', ...$rewriting->beyond_ascii( $left ), 'AND', $matches, '))' ], $node, $rewriting );
	}

	/** Whether one of them is binary, or has a binary COLLATE, which SQLite's LIKE ignores. @param WP_Parser_Node[] $operands */
	private function knows_case( array $operands, Rewriting $rewriting ): bool {
		$kinds  = $rewriting->kinds;
		$binary = array_filter( $operands, static fn ( $operand ) => Columns::BINARY === $kinds->of( $operand ) || Collate::knows_case( $kinds->core( $operand ) ) );
		return [] !== $binary;
	}

	private function condition( array $parts, WP_Parser_Node $node, Rewriting $rewriting ): WP_Parser_Node {
		return $rewriting->sequence( $node->has_child_node( 'notRule' ) ? [ 'NOT (', ...$parts, ')' ] : $parts, $node );
	}

	/** Not for columns of numbers, patterns without letters, and beginnings of texts that an index finds. */
	private function needs_letters( WP_Parser_Node $left, WP_Parser_Node $pattern, Rewriting $rewriting ): bool {
		$text   = $rewriting->kinds->text( $pattern );
		$column = $rewriting->kinds->column( $left );
		if ( null !== $column && Columns::TEXT !== $column->kind ) {
			return false;
		}
		if ( null === $text ) {
			return true;
		}
		$begins_with_text = 1 !== preg_match( '/^[%_]/', $text );
		if ( $begins_with_text && null !== $column && $column->is_indexed && ! Letters::beyond_ascii( $text ) ) {
			return false;
		}
		return Letters::has_letter( $text );
	}
}
