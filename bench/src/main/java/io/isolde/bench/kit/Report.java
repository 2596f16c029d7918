// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * What a benchmark found out; its JSON is stable.
 *
 * @param results by case, one entry per round
 * @param metrics single numbers; the unit is in the name
 * @param ratios of throughputs, or of what else the benchmark says: computed within a round, then
 *     spread over the rounds
 * @param series numbers over time, of the last round; the JSON has none if there are none
 */
@JsonPropertyOrder({"bench", "machine", "rounds", "results", "metrics", "ratios", "series"})
public record Report(
    @JsonProperty String bench,
    @JsonProperty MachineDescription machine,
    @JsonProperty int rounds,
    @JsonProperty List<Result> results,
    @JsonProperty Map<String, Double> metrics,
    @JsonProperty Map<String, Spread> ratios,
    @JsonProperty @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, List<Double>> series) {

  private static final ObjectMapper JSON =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  /** Without numbers over time. */
  public Report(
      String bench,
      MachineDescription machine,
      int rounds,
      List<Result> results,
      Map<String, Double> metrics,
      Map<String, Spread> ratios) {
    this(bench, machine, rounds, results, metrics, ratios, Map.of());
  }

  /** A case in one round. */
  @JsonPropertyOrder({"case", "ops_per_s", "mean_ms", "p50_ms", "p99_ms", "errors"})
  public record Result(
      @JsonProperty("case") String name,
      @JsonProperty("ops_per_s") double operationsPerSecond,
      @JsonProperty("mean_ms") double meanMillis,
      @JsonProperty("p50_ms") double p50Millis,
      @JsonProperty("p99_ms") double p99Millis,
      @JsonProperty long errors) {

    /** Returns what was seen of a case. */
    public static Result of(String name, Measurement seen) {
      return new Result(
          name,
          rounded(seen.operationsPerSecond()),
          rounded(seen.meanMillis()),
          rounded(seen.p50Millis()),
          rounded(seen.p99Millis()),
          seen.errors());
    }

    private Result named(String other) {
      return new Result(other, operationsPerSecond, meanMillis, p50Millis, p99Millis, errors);
    }
  }

  /** Returns the report of cases that ran together. */
  static Report of(
      String bench,
      MachineDescription machine,
      BenchOptions options,
      Map<String, List<Sample>> samples,
      List<Ratio> ratios) {
    List<Result> results =
        samples.entrySet().stream()
            .flatMap(of -> of.getValue().stream().map(s -> Result.of(of.getKey(), s.measurement())))
            .toList();
    Map<String, Spread> spreads = new LinkedHashMap<>();
    ratios.forEach(ratio -> spreads.put(ratio.key(), rounded(ratio.in(samples))));
    return new Report(bench, machine, options.rounds(), results, Map.of(), spreads);
  }

  /**
   * Returns the report of a benchmark that ran several times: all results, and of each metric the
   * median of the runs. A ratio has the spread of the runs' medians, which says more than that of
   * rounds: rounds of a run share what the compiler made of the code.
   */
  public static Report ofRuns(List<Report> runs) {
    Report first = runs.get(0);
    if (runs.size() == 1) {
      return first;
    }
    Medians metrics = new Medians();
    Medians ratios = new Medians();
    for (Report run : runs) {
      run.metrics.forEach(metrics::add);
      run.ratios.forEach((name, spread) -> ratios.add(name, spread.median()));
    }
    Map<String, Spread> spreads = new LinkedHashMap<>();
    ratios.toMap().forEach((name, median) -> spreads.put(name, rounded(ratios.spread(name))));
    return new Report(
            first.bench,
            first.machine,
            runs.stream().mapToInt(Report::rounds).sum(),
            runs.stream().flatMap(run -> run.results.stream()).toList(),
            Map.of(),
            spreads)
        .with(metrics.toMap())
        .withSeries(runs.get(runs.size() - 1).series);
  }

  /** Returns this and another report of the same benchmark as one. */
  public Report and(Report other) {
    Map<String, Spread> allRatios = new LinkedHashMap<>(ratios);
    allRatios.putAll(other.ratios);
    return new Report(
            bench,
            machine,
            rounds,
            Stream.concat(results.stream(), other.results.stream()).toList(),
            metrics,
            allRatios,
            series)
        .with(other.metrics)
        .withSeries(other.series);
  }

  /** Returns this with more metrics. */
  public Report with(Map<String, Double> more) {
    Map<String, Double> all = new LinkedHashMap<>(metrics);
    more.forEach((name, value) -> all.put(name, rounded(value)));
    return new Report(bench, machine, rounds, results, all, ratios, series);
  }

  /** Returns this with numbers over time. */
  public Report withSeries(Map<String, List<Double>> more) {
    Map<String, List<Double>> all = new LinkedHashMap<>(series);
    more.forEach((name, numbers) -> all.put(name, numbers.stream().map(Report::rounded).toList()));
    return new Report(bench, machine, rounds, results, metrics, ratios, all);
  }

  /** Returns this with one more ratio, which need not be one of throughputs. */
  public Report withRatio(String key, Spread spread) {
    Map<String, Spread> all = new LinkedHashMap<>(ratios);
    all.put(key, rounded(spread));
    return new Report(bench, machine, rounds, results, metrics, all, series);
  }

  /** Returns this with longer names of everything, so that it goes beside others like it. */
  public Report withSuffix(String suffix) {
    return new Report(
        bench,
        machine,
        rounds,
        results.stream().map(result -> result.named(result.name() + suffix)).toList(),
        renamed(metrics, suffix),
        renamed(ratios, suffix),
        renamed(series, suffix));
  }

  private static <V> Map<String, V> renamed(Map<String, V> all, String suffix) {
    Map<String, V> renamed = new LinkedHashMap<>();
    all.forEach((name, value) -> renamed.put(name + suffix, value));
    return renamed;
  }

  private static Spread rounded(Spread spread) {
    return new Spread(rounded(spread.min()), rounded(spread.median()), rounded(spread.max()));
  }

  private static double rounded(double value) {
    return Math.round(value * 1000) / 1000.0;
  }

  /** Returns the median of a number over the rounds of a case. */
  public double median(String name, ToDoubleFunction<Result> number) {
    return Spread.median(
        results.stream()
            .filter(result -> result.name.equals(name))
            .map(number::applyAsDouble)
            .toList());
  }

  /** Returns the names of the cases, in the order in which they ran first. */
  public List<String> cases() {
    return results.stream().map(Result::name).distinct().toList();
  }

  /** Returns the report as a table, for people. */
  public String toTable() {
    return ReportTable.of(this);
  }

  /** Returns the report as JSON, for programs. */
  public String toJson() {
    try {
      return JSON.writeValueAsString(this) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("A report consists of numbers and words only.", e);
    }
  }
}
