// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * All that a study has found so far: what its JSON holds, and what a resumed one goes on with.
 *
 * @param description of the cluster and the load; a study is resumed only with the same one
 * @param settings by their name, like {@code R1W2}
 */
public record Results(
    @JsonProperty Map<String, String> description,
    @JsonProperty List<SettingResult> settings,
    @JsonProperty("summary") Summary summary,
    @JsonProperty Churn.Timeline churn) {

  /** Times of requests, in milliseconds. */
  public record Latency(
      @JsonProperty("mean_ms") double mean,
      @JsonProperty("p50_ms") double p50,
      @JsonProperty("p99_ms") double p99,
      @JsonProperty long requests) {}

  /** The same as predicted, with where the quantiles lie with 95% certainty. */
  public record LatencyPrediction(
      @JsonProperty("mean_ms") double mean,
      @JsonProperty Quantile p50,
      @JsonProperty Quantile p99) {}

  /** In milliseconds. */
  public record Quantile(
      @JsonProperty("ms") double value,
      @JsonProperty("low_ms") double low,
      @JsonProperty("high_ms") double high) {}

  /**
   * Reads at about the same time after the write.
   *
   * @param measured the share that saw the last version
   * @param predicted what the share should be
   */
  public record Point(
      @JsonProperty("after_ms") double afterMillis,
      @JsonProperty long reads,
      @JsonProperty double measured,
      @JsonProperty double predicted,
      @JsonProperty("predicted_low") double low,
      @JsonProperty("predicted_high") double high) {}

  /** Reads at one of the last k versions. */
  public record Versions(
      @JsonProperty int k,
      @JsonProperty double measured,
      @JsonProperty double predicted,
      @JsonProperty("predicted_low") double low,
      @JsonProperty("predicted_high") double high) {}

  /**
   * What was found for a pair of levels.
   *
   * @param rmse root of the mean squared difference of measured and predicted shares
   * @param noise what it would be on average if the prediction were perfect: chance alone
   * @param rowsLeftOut that were due and not measured, since too many were under way
   */
  public record SettingResult(
      @JsonProperty String name,
      @JsonProperty("read_level") String readLevel,
      @JsonProperty("write_level") String writeLevel,
      @JsonProperty boolean strong,
      @JsonProperty Latency read,
      @JsonProperty Latency write,
      @JsonProperty("read_predicted") LatencyPrediction readPredicted,
      @JsonProperty("write_predicted") LatencyPrediction writePredicted,
      @JsonProperty("client_round_trip") Latency roundTrip,
      @JsonProperty List<Point> visibility,
      @JsonProperty List<Versions> versions,
      @JsonProperty("versions_after_ms") double versionsAfterMillis,
      @JsonProperty double rmse,
      @JsonProperty double noise,
      @JsonProperty("stale_reads") long staleReads,
      @JsonProperty long reads,
      @JsonProperty long errors,
      @JsonProperty("first_error") String firstError,
      @JsonProperty("rows_left_out") long rowsLeftOut) {}

  /**
   * The study in a few numbers.
   *
   * @param rmse over all points of the weak settings
   * @param writeRatio write latency of R=1, W=3 against R=3, W=1 (the paper: 9.4)
   * @param readRatio read latency of R=3, W=1 against R=1, W=3 (the paper: 2.4)
   * @param weakWriteRatio write latency of R=1, W=2 against W=1 (the paper: 3.5)
   * @param weakReadRatio read latency of R=2, W=1 against R=1 (the paper: 1.7)
   */
  public record Summary(
      @JsonProperty double rmse,
      @JsonProperty double noise,
      @JsonProperty("write_latency_r1w3_vs_r3w1") double writeRatio,
      @JsonProperty("read_latency_r3w1_vs_r1w3") double readRatio,
      @JsonProperty("write_latency_r1w2_vs_r1w1") double weakWriteRatio,
      @JsonProperty("read_latency_r2w1_vs_r1w1") double weakReadRatio,
      @JsonProperty("stale_reads_of_strong_settings") long staleStrongReads) {}
}
