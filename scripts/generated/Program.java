package sidereal;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

class Program {
    static String base;

    static Sidereal read(String name, String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(base + path)).build();
        String body = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
        return Converter.fromJsonString("{\"" + name + "\":" + body + "}");
    }

    public static void main(String[] arguments) throws Exception {
        base = arguments[0];
        Repository first = read("page", "/api/trending?window=7d&limit=2").getPage().getData().get(0);
        String address = "/api/repos/" + first.getProvider() + "/" + first.getFullName();
        RepositoryDetail detail = read("detail", address).getDetail().getData();
        int points = read("series", "/api/repos/" + first.getID() + "/metrics?window=30d").getSeries().getData().size();
        Object code = read("failure", "/api/repos/999999999/metrics").getFailure().getError().getCode();
        System.out.println(detail.getFullName() + " " + detail.getStars() + " " + points + " " + code);
    }
}
