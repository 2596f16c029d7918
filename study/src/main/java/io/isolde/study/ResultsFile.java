// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.isolde.cluster.ToolException;
import io.isolde.study.Results.SettingResult;
import io.isolde.study.Results.Summary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** The JSON of a study, written anew whenever something is found. */
final class ResultsFile {
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  private final Path file;
  private final Map<String, String> description;

  ResultsFile(Path folder, Map<String, String> description) {
    this.file = folder.resolve("study.json");
    this.description = description;
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new ToolException("The folder %s can't be made.".formatted(folder), e);
    }
  }

  /**
   * What was found until now.
   *
   * @throws ToolException if it is another study's
   */
  Results load() {
    if (!Files.exists(file)) {
      return new Results(description, List.of(), null, null);
    }
    try {
      Results found = JSON.readValue(file.toFile(), Results.class);
      if (!found.description().equals(description)) {
        throw new ToolException(
            "%s is of a study with other options. Remove it, or name another folder."
                .formatted(file));
      }
      return found;
    } catch (IOException e) {
      throw new ToolException(
          "%s can't be read. Remove it, or name another folder.".formatted(file), e);
    }
  }

  boolean has(Results results, String setting) {
    return results.settings().stream().anyMatch(each -> each.name().equals(setting));
  }

  Results save(Results before, SettingResult result) {
    List<SettingResult> settings = new ArrayList<>(before.settings());
    settings.add(result);
    return write(new Results(description, settings, summary(settings), before.churn()));
  }

  Results save(Results before, Churn.Timeline churn) {
    return write(new Results(description, before.settings(), before.summary(), churn));
  }

  /** To another file first, so that a crash leaves the former one. */
  private Results write(Results results) {
    Path next = file.resolveSibling("study.json.next");
    try {
      JSON.writeValue(next.toFile(), results);
      Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
      return results;
    } catch (IOException e) {
      throw new ToolException("%s can't be written.".formatted(file), e);
    }
  }

  private static Summary summary(List<SettingResult> settings) {
    List<SettingResult> weak = settings.stream().filter(each -> !each.strong()).toList();
    List<Results.Point> points = weak.stream().flatMap(each -> each.visibility().stream()).toList();
    return new Summary(
        Comparison.rootMean(points, point -> Math.pow(point.measured() - point.predicted(), 2)),
        Comparison.rootMean(
            points, point -> point.predicted() * (1 - point.predicted()) / point.reads()),
        ratio(settings, "R1W3", "R3W1", result -> result.write().mean()),
        ratio(settings, "R3W1", "R1W3", result -> result.read().mean()),
        ratio(settings, "R1W2", "R1W1", result -> result.write().mean()),
        ratio(settings, "R2W1", "R1W1", result -> result.read().mean()),
        settings.stream().filter(SettingResult::strong).mapToLong(SettingResult::staleReads).sum());
  }

  /** 0 while one of them is not measured. */
  private static double ratio(
      List<SettingResult> settings, String of, String to, ToDoubleFunction<SettingResult> number) {
    double above = named(settings, of).mapToDouble(number).findFirst().orElse(0);
    double below = named(settings, to).mapToDouble(number).findFirst().orElse(0);
    return below == 0 ? 0 : above / below;
  }

  private static Stream<SettingResult> named(List<SettingResult> settings, String name) {
    return settings.stream().filter(each -> each.name().equals(name));
  }
}
