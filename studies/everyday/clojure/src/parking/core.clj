(ns parking.core
  (:require [clojure.string :as string])
  (:gen-class))

(def fees [150 280 400 510 610])

(defn hours [minutes]
  (quot (+ minutes 59) 60))

(defn fee [minutes]
  (let [begun (hours minutes)]
    (if (> begun (count fees))
      (+ (last fees) (* 90 (- begun (count fees))))
      (nth fees (dec begun)))))

(defn parse [line]
  (let [[plate in out] (string/split line #" ")]
    {:plate plate :minutes (- (parse-long out) (parse-long in))}))

(defn totals [stays]
  (reduce (fn [sums {:keys [plate minutes]}]
            (update sums plate (fnil + 0) (fee minutes)))
          (sorted-map)
          stays))

(defn -main [& _]
  (let [lines ["K-100 10 65" "B-220 20 400" "M-9 30 151" "K-100 200 260" "X-1 300 300" "B-220 500 990"]]
    (println (totals (map parse (take 4 lines))))
    (println (totals (map parse lines)))
    (shutdown-agents)))
