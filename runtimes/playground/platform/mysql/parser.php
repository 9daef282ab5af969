<?php
namespace WP_MySQL_Layer;

/** A parser whose statements have been rewritten. */
final class Parser extends \WP_MySQL_Parser {
	private Rewriter $rewriter;

	/** Takes the place of a parser that has not started yet. */
	public function __construct( \WP_MySQL_Parser $parser, Rewriter $rewriter ) {
		parent::__construct( $parser->grammar, $parser->tokens );
		$this->rewriter = $rewriter;
	}

	public function get_query_ast(): ?\WP_Parser_Node {
		$statement = parent::get_query_ast();
		return null === $statement ? null : $this->rewriter->rewrite( $statement, $this->tokens );
	}
}
