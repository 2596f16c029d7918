// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import io.isolde.bench.charts.Picture;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntFunction;

/**
 * One benchmark.
 *
 * @param name the word that selects it on the command line
 * @param summary what it measures, in one sentence
 * @param parts what it does, one after the other
 * @param wantsOwnNetwork whether it measures more where nodes can be cut off from one another
 * @param figures draws what it found out, if there is something to draw
 */
public record Benchmark(
    String name,
    String summary,
    List<Part> parts,
    boolean wantsOwnNetwork,
    Function<Report, List<? extends Picture>> figures) {

  /** A part of a benchmark, on nodes of its own. */
  public interface Part {
    /** Runs it. */
    Report run(Run run);
  }

  /** Returns a benchmark of these parts, without pictures. */
  public static Benchmark of(String name, String summary, Part... parts) {
    return new Benchmark(name, summary, List.of(parts), false, report -> List.of());
  }

  /** Returns a benchmark on two sizes of clusters, and those on one of them. */
  public static List<Benchmark> onNodes(
      String name, String summary, IntFunction<Part> part, int few, int many) {
    String onFew = summary + ", on " + inWords(few) + (few == 1 ? " node" : " nodes");
    return List.of(
        of(name, onFew + " and on " + inWords(many), part.apply(few), part.apply(many)),
        of(name + "-" + few + "n", onFew, part.apply(few)),
        of(
            name + "-" + many + "n",
            summary + ", on " + inWords(many) + " nodes",
            part.apply(many)));
  }

  private static String inWords(int nodes) {
    return switch (nodes) {
      case 1 -> "one";
      case 3 -> "three";
      case 5 -> "five";
      default -> Integer.toString(nodes);
    };
  }

  /** Returns the same, for a network of its own if there can be one. */
  public Benchmark inOwnNetwork() {
    return new Benchmark(name, summary, parts, true, figures);
  }

  /** Returns the same with pictures. */
  public Benchmark drawnBy(Function<Report, List<? extends Picture>> pictures) {
    return new Benchmark(name, summary, parts, wantsOwnNetwork, pictures);
  }

  /** Runs all parts. */
  public Report run(Run run) {
    return parts.stream().map(part -> part.run(run)).reduce(Report::and).orElseThrow();
  }
}
