<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/** Aggregate functions: what SQLite has no syntax for, averages with MySQL's digits, and bits as numbers. */
final class Aggregates implements Rule {
	public function nodes(): array {
		return [ 'sumExpr', 'jsonFunction' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$keyword = $node->get_first_child();
		if ( ! $keyword instanceof WP_MySQL_Token || $node->has_child_node( 'windowingClause' ) ) {
			return null;
		}
		switch ( $keyword->id ) {
			case Lexer::GROUP_CONCAT_SYMBOL:
				return $this->group_concat( $node, $rewriting );
			case Lexer::COUNT_SYMBOL:
				return $this->count_of_several( $node, $rewriting );
			case Lexer::AVG_SYMBOL:
				return $this->average( $node, $rewriting );
			case Lexer::BIT_AND_SYMBOL:
			case Lexer::BIT_OR_SYMBOL:
			case Lexer::BIT_XOR_SYMBOL:
				return $this->bits( $node, $rewriting );
			case Lexer::JSON_ARRAYAGG_SYMBOL:
				return $rewriting->call( 'mysql_json', [ $rewriting->call( 'json_group_array', [ $this->element( $node->get_first_child_node( 'inSumExpr' ), $rewriting ) ], $node ) ], $node );
			case Lexer::JSON_OBJECTAGG_SYMBOL:
				return $rewriting->call( 'mysql_json', [ $this->object_of( $node->get_child_nodes( 'inSumExpr' ), $node, $rewriting ) ], $node );
			default:
				return null;
		}
	}

	/** SQLite takes no separator beside DISTINCT, so the texts are collected as JSON and joined. */
	private function group_concat( WP_Parser_Node $node, Rewriting $rewriting ): WP_Parser_Node {
		$texts     = $node->get_first_child_node( 'exprList' )->get_child_nodes();
		$text      = 1 === count( $texts ) ? Text_Forms::of( $texts[0], $rewriting ) : Text_Forms::joined( $texts, $node, $rewriting );
		$order     = $node->get_first_child_node( 'orderClause' );
		$order     = null === $order ? [] : [ $order ];
		$separator = $node->get_first_child_node( 'textString' );
		$separator = null === $separator ? "','" : $this->quoted( $separator );
		if ( ! $node->has_child_token( Lexer::DISTINCT_SYMBOL ) ) {
			return $rewriting->sequence( [ 'group_concat(', $text, ', ', $separator, ...$order, ')' ], $node );
		}
		$list = $rewriting->sequence( [ 'json_group_array(DISTINCT ', $text, ...$order, ')' ], $node );
		return $rewriting->call( 'mysql_join', [ $list, $separator ], $node );
	}

	/** `COUNT(DISTINCT a, b)` counts the rows in which none is NULL, and without regard to case and accents. */
	private function count_of_several( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$values = $node->get_first_child_node( 'exprList' )?->get_child_nodes() ?? [];
		if ( count( $values ) < 2 ) {
			return null;
		}
		$all  = $rewriting->call( 'json_array', array_map( fn ( $value ) => $this->without_case( $value, $rewriting ), $values ), $node );
		$text = Text_Forms::joined( $values, $node, $rewriting );
		return $rewriting->sequence( [ 'count(DISTINCT iif(', $text, ' IS NULL, NULL, ', $all, '))' ], $node );
	}

	private function without_case( WP_Parser_Node $value, Rewriting $rewriting ): WP_Parser_Node {
		$is_text = Columns::TEXT === $rewriting->kinds->column( $value )?->kind;
		return $is_text ? $rewriting->sequence( [ 'lower(', $rewriting->folded( $value ), ')' ], $value ) : $value;
	}

	/** @param WP_Parser_Node[] $pair Key and value. */
	private function object_of( array $pair, WP_Parser_Node $node, Rewriting $rewriting ): WP_Parser_Node {
		return $rewriting->call( 'json_group_object', [ $pair[0], $this->element( $pair[1], $rewriting ) ], $node );
	}

	/** SQLite makes documents of its own functions parts of others; json() makes any document one of its own. */
	private function element( WP_Parser_Node $value, Rewriting $rewriting ): WP_Parser_Node {
		return Json_Parts::is_document( $value ) ? $rewriting->call( 'json', [ $value ], $value ) : $value;
	}

	/** Averages of integers have four digits after the point. */
	private function average( WP_Parser_Node $node, Rewriting $rewriting ): WP_Parser_Node {
		$average = $this->native( 'avg', $node );
		$sum     = $this->native( 'sum', $node );
		return $rewriting->sequence( [ 'iif(typeof(', ...$sum, ") = 'integer', round(", ...$average, ', 4), ', ...$average, ')' ], $node );
	}

	/**
	 * The layer's functions take and give digits as texts, because PDO passes 32 bits of an integer only. They become SQLite's
	 * integers. Those from 2^63 on stay texts, unless that would repeat a long expression.
	 */
	private function bits( WP_Parser_Node $node, Rewriting $rewriting ): WP_Parser_Node {
		$value = $node->get_first_child_node( 'inSumExpr' );
		$bits  = [ $node->get_first_child()->get_value(), '(', Large_Numbers::whole( $rewriting, $value ), ')' ];
		return Known_Results::is_repeatable( $value )
			? $rewriting->sequence( [ 'iif(CAST(CAST(', ...$bits, ' AS INTEGER) AS TEXT) = ', ...$bits, ', CAST(', ...$bits, ' AS INTEGER), ', ...$bits, ')' ], $node )
			: $rewriting->sequence( [ 'CAST(', ...$bits, ' AS NUMERIC)' ], $node );
	}

	private function native( string $function, WP_Parser_Node $node ): array {
		$distinct = $node->has_child_token( Lexer::DISTINCT_SYMBOL ) ? 'DISTINCT ' : '';
		return [ "$function($distinct", $node->get_first_child_node( 'inSumExpr' ), ')' ];
	}

	private function quoted( WP_Parser_Node $text ): string {
		return "'" . str_replace( "'", "''", $text->get_first_descendant_token()->get_value() ) . "'";
	}
}
